#include "arrow.hpp"

namespace wavewright::bind {
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

// Releases and frees a node that nobody has taken over.
struct FreeNode {
    template <class Node>
    void operator()(Node* node) const {
        if (node->release != nullptr) node->release(node);
        delete node;
    }
};

template <class Node>
void release(Node* node) {
    auto* holding = static_cast<Holding<Node>*>(node->private_data);
    for (Node* child : holding->children) FreeNode()(child);
    if (node->dictionary != nullptr) FreeNode()(node->dictionary);
    delete holding;
    node->release = nullptr;
}

template <class Node>
using OwnedNode = std::unique_ptr<Node, FreeNode>;

template <class Node>
Holding<Node>* hold(Node& node) {
    auto* holding = new Holding<Node>();
    node.private_data = holding;
    node.release = release<Node>;
    return holding;
}

OwnedNode<ArrowSchema> new_schema(const char* format, const std::string& name) {
    OwnedNode<ArrowSchema> schema(new ArrowSchema{});
    Holding<ArrowSchema>* holding = hold(*schema);
    holding->name = name;
    schema->format = format;
    schema->name = holding->name.c_str();
    return schema;
}

OwnedNode<ArrowArray> new_array(int64_t length, const std::shared_ptr<void>& owner) {
    OwnedNode<ArrowArray> array(new ArrowArray{});
    Holding<ArrowArray>* holding = hold(*array);
    holding->owner = owner;
    array->length = length;
    array->buffers = holding->buffers;
    return array;
}

template <class Node>
void adopt(Node& parent, OwnedNode<Node> child) {
    auto* holding = static_cast<Holding<Node>*>(parent.private_data);
    holding->children.push_back(child.get());
    child.release();
    parent.n_children = static_cast<int64_t>(holding->children.size());
    parent.children = holding->children.data();
}

template <class Node>
nanobind::object capsule(OwnedNode<Node> node, const char* name) {
    auto destroy = [](PyObject* self) {
        FreeNode()(static_cast<Node*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self))));
    };
    PyObject* made = PyCapsule_New(node.get(), name, destroy);
    if (made == nullptr) throw nanobind::python_error();
    node.release();
    return nanobind::steal(made);
}

const uint64_t kNothing = 0;  // consumers want a non-null data buffer even for no rows

const void* or_nothing(const void* data) {
    return data != nullptr ? data : &kNothing;
}

// Gives an array its buffers: values, or offsets and bytes of texts.
void fill(ArrowArray& array, const void* offsets, const void* data) {
    array.n_buffers = offsets != nullptr ? 3 : 2;
    if (offsets != nullptr) array.buffers[1] = offsets;
    array.buffers[array.n_buffers - 1] = or_nothing(data);
}

}  // namespace

nanobind::tuple export_table(const ArrowTable& table) {
    OwnedNode<ArrowSchema> schema = new_schema("+s", "");
    OwnedNode<ArrowArray> array = new_array(table.length, table.owner);
    array->n_buffers = 1;
    for (const ArrowColumn& column : table.columns) {
        OwnedNode<ArrowSchema> field = new_schema(column.format, column.name);
        OwnedNode<ArrowArray> values = new_array(table.length, table.owner);
        fill(*values, column.offsets, column.data);
        values->buffers[0] = column.validity;
        values->null_count = column.null_count;
        field->flags = column.null_count != 0 ? kNullable : 0;
        if (column.dictionary) {
            field->dictionary = new_schema("U", "").release();
            values->dictionary = new_array(column.dictionary->length, table.owner).release();
            fill(*values->dictionary, or_nothing(column.dictionary->offsets), column.dictionary->data);
        }
        adopt(*schema, std::move(field));
        adopt(*array, std::move(values));
    }
    nanobind::object shape = capsule(std::move(schema), "arrow_schema");
    return nanobind::make_tuple(shape, capsule(std::move(array), "arrow_array"));
}

}  // namespace wavewright::bind
