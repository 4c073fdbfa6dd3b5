# The sources of the core, in the groups that are compiled together.
add_library(wavewright_core STATIC)
add_group(wavewright_core isa cpp/src/isa
  disassemble.cpp decode.cpp decode_operand.cpp image.cpp index.cpp match_text.cpp operands.cpp
  print.cpp print_constant.cpp print_modifier.cpp print_system.cpp read_texts.cpp register_text.cpp tables.cpp)
add_group(wavewright_core caches cpp/src/caches
  cache_orders.cpp)
add_group(wavewright_core evaluate cpp/src/evaluate
  access_costs.cpp evaluate.cpp instruction.cpp machine.cpp memory.cpp pass.cpp value.cpp)
add_group(wavewright_core operations cpp/src/evaluate
  dwords.cpp operations.cpp operations_carry.cpp operations_compare.cpp operations_float.cpp operations_half.cpp
  operations_lanes.cpp operations_mask.cpp operations_scalar.cpp operations_vector.cpp operations_wide.cpp)
add_group(wavewright_core waves cpp/src/base
  block.cpp file_blocks.cpp integer_rows.cpp key_numbers.cpp)
add_group(wavewright_core program cpp/src/decode
  decode.cpp entries.cpp markers.cpp records.cpp)
add_group(wavewright_core gfx9 cpp/src/gfx9
  counters.cpp emit.cpp gfx9.cpp occupancy.cpp pcmap.cpp wave.cpp)
add_group(wavewright_core program cpp/src/program
  classify.cpp flow_blocks.cpp funcmap.cpp jumps.cpp live_registers.cpp program.cpp)
add_group(wavewright_core rdna cpp/src/rdna
  emit.cpp ops.cpp pcmap.cpp rdna.cpp wave.cpp)
add_group(wavewright_core events cpp/src/run
  call_tree.cpp covered_time.cpp duration_statistics.cpp value_counts.cpp)
add_group(wavewright_core graph cpp/src/run
  event_edges.cpp event_graph.cpp event_path.cpp event_prediction.cpp)
add_group(wavewright_core events cpp/src/spans
  span_pyramid.cpp tracks.cpp)
add_group(wavewright_core files cpp/src/perfetto
  clocks.cpp nested_json.cpp nesting.cpp packets.cpp trace.cpp)
add_group(wavewright_core files cpp/src/sqlite
  columns.cpp file.cpp scan.cpp text.cpp tree.cpp)
add_group(wavewright_core waves cpp/src/waves
  busy.cpp busy_times.cpp hidden.cpp row_totals.cpp stalls.cpp state_counts.cpp timeline.cpp utilization.cpp waits.cpp wave_rows.cpp wave_spans.cpp wave_sums.cpp)
add_group(wavewright_core events cpp/src/waves
  lane_costs.cpp late_causes.cpp replay.cpp)
add_group(wavewright_core edits cpp/src/edits
  edit_latencies.cpp edit_replay.cpp)
add_group(wavewright_core files cpp/src/waves
  wave_json.cpp wave_json_file.cpp)
add_group(wavewright_core files cpp/src/write
  chrome_frames.cpp chrome_trace.cpp json_text.cpp perfetto.cpp)
target_include_directories(wavewright_core PUBLIC cpp/include PRIVATE cpp/src)
target_link_libraries(wavewright_core PUBLIC Threads::Threads)
target_compile_options(wavewright_core PRIVATE -Wall -Wextra -Wconversion -Wshadow)
set_target_properties(wavewright_core PROPERTIES CXX_VISIBILITY_PRESET hidden)
