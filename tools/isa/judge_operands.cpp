// LLVM's records and operands as a judge: judge_operands CPU FEATURES < windows > answers. Needs LLVM's headers
// (llvm-22-dev) and is linked to its library.
//
// A window is 20 bytes; the answer is one line for the instruction at its front: `SIZE TAB RECORD TAB TEXT TAB
// OPERANDS`, or `0` and a sign as judge_llvm.cpp has it. OPERANDS: words `d:REGISTER` (written; LLVM's name, as
// VGPR0_VGPR1), `u:REGISTER` (read), `t:REGISTER` (read because tied to a result), `D:` and `U:` for the implicit ones
// of the record.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "llvm/ADT/SmallString.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"

extern "C" {
void LLVMInitializeAMDGPUTargetInfo();
void LLVMInitializeAMDGPUTargetMC();
void LLVMInitializeAMDGPUDisassembler();
}

namespace {

using namespace llvm;

constexpr size_t kWindowBytes = 20, kFlushBytes = 1 << 16;
sigjmp_buf past_death;

void on_death(int) {
    siglongjmp(past_death, 1);
}

// One target's parts of LLVM's MC layer.
struct Machine {
    Triple triple{"amdgcn-amd-amdhsa"};
    MCTargetOptions options;
    std::unique_ptr<MCRegisterInfo> registers;
    std::unique_ptr<MCAsmInfo> assembly;
    std::unique_ptr<MCInstrInfo> instructions;
    std::unique_ptr<MCSubtargetInfo> subtarget;
    std::unique_ptr<MCContext> context;
    std::unique_ptr<MCDisassembler> disassembler;
    std::unique_ptr<MCInstPrinter> printer;

    Machine(const char* cpu, const char* features) {
        std::string error;
        const Target* const target = TargetRegistry::lookupTarget(triple, error);
        registers.reset(target->createMCRegInfo(triple));
        assembly.reset(target->createMCAsmInfo(*registers, triple, options));
        instructions.reset(target->createMCInstrInfo());
        subtarget.reset(target->createMCSubtargetInfo(triple, cpu, features));
        context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(), subtarget.get());
        disassembler.reset(target->createMCDisassembler(*subtarget, *context));
        printer.reset(
            target->createMCInstPrinter(triple, assembly->getAssemblerDialect(), *assembly, *instructions, *registers));
    }
};

void append_operands(std::string& out, const Machine& machine, const MCInst& instruction) {
    const MCInstrDesc& record = machine.instructions->get(instruction.getOpcode());
    SmallString<256> text;
    raw_svector_ostream stream(text);
    const auto put = [&](char role, MCRegister reg) {
        stream << ' ' << role << ':' << machine.registers->getName(reg);
    };
    for (unsigned i = 0; i < instruction.getNumOperands(); ++i) {
        const MCOperand& operand = instruction.getOperand(i);
        if (!operand.isReg() || !operand.getReg()) continue;
        const bool is_tied = i < record.getNumOperands() && record.getOperandConstraint(i, MCOI::TIED_TO) != -1;
        put(i < record.getNumDefs() ? 'd' : is_tied ? 't' : 'u', operand.getReg());
    }
    for (const MCPhysReg reg : record.implicit_defs()) put('D', reg);
    for (const MCPhysReg reg : record.implicit_uses()) put('U', reg);
    out += text.str().str();
}

void append_text(std::string& out, StringRef text) {
    bool blank = false, any = false;
    for (const char c : text) {
        if (c == ' ' || c == '\t' || c == '\n') {
            blank = any;
            continue;
        }
        if (blank) out += ' ';
        blank = false;
        any = true;
        out += c;
    }
}

void answer(std::string& out, const Machine& machine, ArrayRef<uint8_t> window) {
    MCInst instruction;
    uint64_t size = 0;
    raw_null_ostream comments;
    const auto status = machine.disassembler->getInstruction(instruction, size, window, 0, comments);
    if (status != MCDisassembler::Success) {
        out += status == MCDisassembler::SoftFail ? "0\t~\n" : "0\t-\n";
        return;
    }
    SmallString<1024> text;
    raw_svector_ostream stream(text);
    machine.printer->printInst(&instruction, 0, "", *machine.subtarget, stream);
    std::string line =
        std::to_string(size) + '\t' + machine.instructions->getName(instruction.getOpcode()).str() + '\t';
    append_text(line, text);
    line += '\t';
    append_operands(line, machine, instruction);
    out += line + '\n';
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return std::fprintf(stderr, "usage: judge_operands CPU FEATURES\n"), 2;
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
    const Machine machine(arguments[1], arguments[2]);
    for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE}) {
        struct sigaction action{};
        action.sa_handler = on_death;
        action.sa_flags = SA_NODEFER;
        sigaction(signal, &action, nullptr);
    }
    static uint8_t window[kWindowBytes];
    static std::string out;
    while (std::fread(window, 1, kWindowBytes, stdin) == kWindowBytes) {
        if (sigsetjmp(past_death, 0) != 0) {
            out += "0\t!\n";
            continue;
        }
        answer(out, machine, ArrayRef(window, kWindowBytes));
        if (out.size() <= kFlushBytes) continue;
        std::fwrite(out.data(), 1, out.size(), stdout);
        out.clear();
    }
    std::fwrite(out.data(), 1, out.size(), stdout);
    std::fflush(stdout);
    std::_Exit(0);
}
