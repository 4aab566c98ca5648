"""Pretty-printers for C++ AMP's classes in gdb and lldb: index, extent, tiled_index, array_view, array and short vectors.

gdb:  source PREFIX/share/revamp/debugger.py
lldb: command script import PREFIX/share/revamp/debugger.py
In gdb, expressions and conditions of breakpoints may then use operator[] of index, extent, array_view and array: `print a[idx]`.
docs/debugging.md has a transcript.
"""
import math
import re

# These regular expressions must be valid for Python and as POSIX expressions for lldb. lldb omits inline namespaces from names.
ABI = "(abi_[0-9]+::)?"
NAME = "^(const )?Concurrency::" + ABI
SHAPES = re.compile(NAME + "(index|extent|tiled_extent)<")
TILED_INDICES = re.compile(NAME + r"tiled_index<")
VIEWS = re.compile(NAME + "(array_view|array)<")
VECTORS = re.compile("^(const )?revamp::" + ABI + "detail::vec<.*, ([234])>$")
# The maximum number of elements that are shown.
MAX_ELEMENTS = 200


def tuple_of(numbers):
    return "(" + ", ".join(str(number) for number in numbers) + ")"


def element_indices(extent):
    """The indices of the first MAX_ELEMENTS elements, in order."""
    # The view may not be constructed yet, so its extent may be negative.
    for n in range(min(math.prod(max(size, 0) for size in extent), MAX_ELEMENTS)):
        place = []
        for size in reversed(extent):
            n, at = divmod(n, size)
            place.insert(0, at)
        yield tuple(place)


def offset_of(place, steps):
    """The offset of an element from the first element, in elements. `steps`: the stride of each dimension, in elements."""
    return sum(at * step for at, step in zip(place, steps))


def packed(extent):
    """The strides of an array with this extent, in elements."""
    steps = [1]
    for size in reversed(extent[1:]):
        steps.insert(0, steps[0] * size)
    return steps


# gdb

def in_gdb():
    import gdb
    import gdb.printing
    import gdb.xmethod

    def numbers(shape):
        values = shape["m_values"]
        return [int(values[n]) for n in range(values.type.range()[1] + 1)]

    def elements(view):
        """The address of the first element, the extent and the strides. The address is 0 if the elements are not on the host."""
        data, extent = view["m_data"], numbers(view["extent"])
        names = [field.name for base in view.type.strip_typedefs().fields() if base.is_base_class for field in base.type.fields()]
        if "m_strides" not in names:
            return data, extent, packed(extent)
        steps = [int(view["m_strides"]["step"][n]) for n in range(len(extent) - 1)] + [1]
        control = view["m_control"]
        if not int(data) and int(control):
            data = control["data"]["_M_b"]["_M_p"].cast(data.type)
        return data, extent, steps

    class Shape:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            return tuple_of(numbers(self.value))

    class TiledIndex:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            parts = ("global", "local", "tile", "tile_origin")
            return ", ".join(f"{part} {tuple_of(numbers(self.value[part]))}" for part in parts)

    class View:
        def __init__(self, value):
            self.data, self.extent, self.steps = elements(value)

        def to_string(self):
            return f"extent {tuple_of(self.extent)}" + ("" if int(self.data) else ", elements not on the host")

        def children(self):
            for place in element_indices(self.extent) if int(self.data) else ():
                name = "[" + ", ".join(map(str, place)) + "]"
                yield name, (self.data + offset_of(place, self.steps)).dereference()

    class Vector:
        def __init__(self, value):
            self.value = value

        def to_string(self):
            size = int(VECTORS.match(str(self.value.type.strip_typedefs().unqualified())).group(3))
            # The components are at the start of the vector.
            first = self.value.address.cast(self.value["x"].type.pointer())
            return tuple_of(first[n] for n in range(size))

    printers = gdb.printing.RegexpCollectionPrettyPrinter("revamp")
    for name, pattern, printer in (("shape", SHAPES, Shape), ("tiled_index", TILED_INDICES, TiledIndex),
                                   ("view", VIEWS, View), ("vector", VECTORS, Vector)):
        printers.add_printer(name, pattern.pattern, printer)
    gdb.printing.register_pretty_printer(None, printers, replace=True)

    class Component(gdb.xmethod.XMethodWorker):
        """index::operator[] and extent::operator[]."""

        def get_arg_types(self):
            return gdb.lookup_type("int")

        def get_result_type(self, *_):
            return gdb.lookup_type("int")

        def __call__(self, shape, dimension):
            return shape["m_values"][dimension]

    class Element(gdb.xmethod.XMethodWorker):
        """array_view::operator[] and array::operator[]."""

        def __init__(self, argument):
            self.argument = argument

        def get_arg_types(self):
            return self.argument

        def __call__(self, view, index):
            data, extent, steps = elements(view)
            place = [int(index)] if index.type.strip_typedefs().code == gdb.TYPE_CODE_INT else numbers(index)
            if len(place) != len(extent) or any(not 0 <= n < size for n, size in zip(place, extent)):
                raise gdb.GdbError(f"element {tuple_of(place)} is outside of the extent {tuple_of(extent)}")
            if not int(data):
                raise gdb.GdbError("the elements are not on the host")
            return (data + offset_of(place, steps)).dereference()

    class Operators(gdb.xmethod.XMethodMatcher):
        def __init__(self):
            super().__init__("revamp")
            self.methods = [gdb.xmethod.XMethod("operators")]

        def match(self, class_type, method):
            if not self.methods[0].enabled or method != "operator[]":
                return None
            name = str(class_type.strip_typedefs().unqualified())
            if SHAPES.match(name):
                return Component()
            if not VIEWS.match(name):
                return None
            rank = int(class_type.strip_typedefs().template_argument(1))
            index = gdb.lookup_type(re.match(NAME, name).group(0).replace("const ", "") + f"index<{rank}>")
            return [Element(index)] + ([Element(gdb.lookup_type("int"))] if rank == 1 else [])

    gdb.xmethod.register_xmethod_matcher(None, Operators(), replace=True)
    # `step` enters the program's functions, not those of the headers.
    gdb.execute("skip -rfunction ^(revamp|Concurrency)::", to_string=True)


# lldb

def child(value, *names):
    for name in names:
        value = value.GetChildMemberWithName(name)
    return value


def lldb_numbers(shape):
    values = child(shape.GetNonSyntheticValue(), "m_values")
    return [values.GetChildAtIndex(n).GetValueAsSigned() for n in range(values.GetNumChildren())]


def lldb_shape(value, _):
    return tuple_of(lldb_numbers(value))


def lldb_tiled_index(value, _):
    value = value.GetNonSyntheticValue()
    return ", ".join(f"{part} {tuple_of(lldb_numbers(child(value, part)))}" for part in ("global", "local", "tile", "tile_origin"))


def lldb_vector(value, _):
    value = value.GetNonSyntheticValue()
    size = int(VECTORS.match(value.GetType().GetCanonicalType().GetName()).group(3))
    scalar = child(value, "x").GetType()
    parts = (value.CreateChildAtOffset(str(n), n * scalar.GetByteSize(), scalar) for n in range(size))
    return tuple_of(part.GetValue() for part in parts)


def lldb_view(value, _):
    return "extent " + tuple_of(lldb_numbers(child(value.GetNonSyntheticValue(), "extent")))


class LldbElements:
    """Shows the elements of a view or array as its children."""

    def __init__(self, value, _):
        self.value = value
        self.update()

    def update(self):
        view = self.value.GetNonSyntheticValue()
        data, self.extent = child(view, "m_data"), lldb_numbers(child(view, "extent"))
        steps = child(view, "m_strides", "step")
        self.steps = packed(self.extent)
        if steps.IsValid():
            self.steps = [steps.GetChildAtIndex(n).GetValueAsSigned() for n in range(len(self.extent) - 1)] + [1]
        self.type = data.GetType().GetPointeeType()
        self.first = data.GetValueAsUnsigned() or child(view, "m_control", "data", "_M_b", "_M_p").GetValueAsUnsigned()
        self.element_indices = list(element_indices(self.extent)) if self.first else []

    def num_children(self):
        return len(self.element_indices)

    def has_children(self):
        return bool(self.element_indices)

    def get_child_at_index(self, at):
        place = self.element_indices[at]
        address = self.first + offset_of(place, self.steps) * self.type.GetByteSize()
        return self.value.CreateValueFromAddress("[" + ", ".join(map(str, place)) + "]", address, self.type)


def __lldb_init_module(debugger, _):
    def run(command):
        debugger.HandleCommand(f"type {command} --category revamp")

    for pattern, function in ((SHAPES, "lldb_shape"), (TILED_INDICES, "lldb_tiled_index"), (VECTORS, "lldb_vector"), (VIEWS, "lldb_view")):
        expand = " --expand" if function == "lldb_view" else ""
        run(f"summary add --python-function {__name__}.{function}{expand} --regex '{pattern.pattern}'")
    run(f"synthetic add --python-class {__name__}.LldbElements --regex '{VIEWS.pattern}'")
    debugger.HandleCommand("type category enable revamp")
    # `step` enters the program's functions, not those of the headers.
    debugger.HandleCommand("settings set target.process.thread.step-avoid-regexp '^(std|revamp|Concurrency)::'")


try:
    in_gdb()
except ImportError:
    # lldb calls __lldb_init_module. Run as a program, this file prints how a debugger loads it.
    if __name__ == "__main__":
        print(__doc__, end="")
