#include "arrow.hpp"

namespace wavescope::bind {
namespace {

constexpr int64_t kNullable = 2;  // ARROW_FLAG_NULLABLE

// What one exported node owns; freed by its release callback.
template <class Node>
struct Holding {
    std::string name;
    std::vector<Node*> children;
    const void* buffers[3] = {nullptr, nullptr, nullptr};  // validity, then offsets of text, then values
    std::shared_ptr<void> owner;
};

template <class Node>
void release(Node* node) {
    auto* holding = static_cast<Holding<Node>*>(node->private_data);
    for (Node* child : holding->children) {
        if (child->release != nullptr) child->release(child);
        delete child;
    }
    if (node->dictionary != nullptr) {
        if (node->dictionary->release != nullptr) node->dictionary->release(node->dictionary);
        delete node->dictionary;
    }
    delete holding;
    node->release = nullptr;
}

template <class Node>
Holding<Node>* hold(Node* node) {
    auto* holding = new Holding<Node>();
    node->private_data = holding;
    node->release = release<Node>;
    return holding;
}

ArrowSchema* new_schema(const char* format, const std::string& name) {
    auto* schema = new ArrowSchema{};
    Holding<ArrowSchema>* holding = hold(schema);
    holding->name = name;
    schema->format = format;
    schema->name = holding->name.c_str();
    return schema;
}

ArrowArray* new_array(int64_t length, const std::shared_ptr<void>& owner) {
    auto* array = new ArrowArray{};
    Holding<ArrowArray>* holding = hold(array);
    holding->owner = owner;
    array->length = length;
    array->buffers = holding->buffers;
    return array;
}

template <class Node>
void adopt(Node* parent, std::vector<Node*> children) {
    auto* holding = static_cast<Holding<Node>*>(parent->private_data);
    holding->children = std::move(children);
    parent->n_children = static_cast<int64_t>(holding->children.size());
    parent->children = holding->children.data();
}

template <class Node>
nanobind::object capsule(Node* node, const char* name) {
    auto destroy = [](PyObject* self) {
        auto* held = static_cast<Node*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
        if (held->release != nullptr) held->release(held);
        delete held;
    };
    return nanobind::steal(PyCapsule_New(node, name, destroy));
}

const uint64_t kNothing = 0;  // consumers want a non-null data buffer even for no rows

const void* or_nothing(const void* data) {
    return data != nullptr ? data : &kNothing;
}

// Gives an array its buffers: values, or offsets and bytes of texts.
void fill(ArrowArray* array, const void* offsets, const void* data) {
    array->n_buffers = offsets != nullptr ? 3 : 2;
    if (offsets != nullptr) array->buffers[1] = offsets;
    array->buffers[array->n_buffers - 1] = or_nothing(data);
}

}  // namespace

nanobind::tuple export_table(const ArrowTable& table) {
    ArrowSchema* schema = new_schema("+s", "");
    ArrowArray* array = new_array(table.length, table.owner);
    array->n_buffers = 1;
    std::vector<ArrowSchema*> fields;
    std::vector<ArrowArray*> values;
    for (const ArrowColumn& column : table.columns) {
        fields.push_back(new_schema(column.format, column.name));
        ArrowArray* value = new_array(table.length, table.owner);
        fill(value, column.offsets, column.data);
        value->buffers[0] = column.validity;
        value->null_count = column.null_count;
        fields.back()->flags = column.null_count != 0 ? kNullable : 0;
        if (column.dictionary) {
            fields.back()->dictionary = new_schema("U", "");
            value->dictionary = new_array(column.dictionary->length, table.owner);
            fill(value->dictionary, or_nothing(column.dictionary->offsets), column.dictionary->data);
        }
        values.push_back(value);
    }
    adopt(schema, std::move(fields));
    adopt(array, std::move(values));
    return nanobind::make_tuple(capsule(schema, "arrow_schema"), capsule(array, "arrow_array"));
}

}  // namespace wavescope::bind
