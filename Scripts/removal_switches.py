"""Puts many removals into one build: each function that rows of `Scripts/removals` change gets one body a row, and the process
says at its start which of them it runs. So the build is made once, and not once for every check.

A row that changes no function body and no initial value, such as a declaration, has no such place and is built alone."""

import bisect, dataclasses, re

import swift_text

# Which row is switched on in a process; 0 for none. Every target that has a switch gets this source. The row is in the environment, and
# in a file beside the program, because some tests start programs with an environment of their own.
SWITCH = """\
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@usableFromInline let removedRow: Int = {
    if let row = getenv("SIGNET_REMOVED_ROW") { return Int(String(cString: row)) ?? 0 }
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count - 1)
    guard count > 0 else { return 0 }
    let program = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = program[..<(program.lastIndex(of: "/") ?? program.endIndex)]
    guard let file = fopen(folder + "/removed-row", "r") else { return 0 }
    defer { fclose(file) }
    var text = [CChar](repeating: 0, count: 16)
    guard fgets(&text, 15, file) != nil else { return 0 }
    return Int(atoi(text))
}()
"""

KEYWORD = re.compile(
    r"(?<![.\w`])(struct|class|enum|actor|extension|protocol|func|init|deinit|subscript|var|let|case)\b(?!\s*[:,)])")
TYPES = {"struct", "class", "enum", "actor", "extension", "protocol"}
ACCESSOR = re.compile(r"\s*(?:@\w+\s+)*(?:(?:non)?mutating\s+)?(?:get|set|_read|_modify|willSet|didSet)\b(?!\s*[=(.])(?=[^{]*\{)")
PARAMETERS = re.compile(  # of a closure, up to its `in`
    r"\s*(?:\[[^\]]*\]\s*)?(?:\([^()]*\)|\w+(?:\s*,\s*\w+)*)?\s*(?:async\s*)?(?:throws(?:\([^)]*\))?\s*)?(?:->\s*[^{}=]+?)?\s+in\b")
VALUE = re.compile(r"^[ \t]*(?:@\w+\s+)?(?:\w+\s+)*(?:let|var) \w+(?:: [^=\n{}]+)? =\s+", re.M)
CONTINUES = re.compile(r"\s*[-+.?:&|*/<>]")  # the line before goes on


@dataclasses.dataclass(frozen=True)
class Change:
    """A row in its file: the characters that differ, and what stands in their place without the check."""
    row: int
    start: int
    end: int
    text: str


def change(row, source, line, without):
    """The change of a row, without what its two texts have in common at their ends."""
    start = source.index(line)
    head = 0
    while head < min(len(line), len(without)) and line[head] == without[head]:
        head += 1
    tail = 0
    while tail < min(len(line), len(without)) - head and line[-1 - tail] == without[-1 - tail]:
        tail += 1
    return Change(row, start + head, start + len(line) - tail, without[head:len(without) - tail])


class Braces:
    """The braces of a source, each with its partner, its parent, and whether a type is declared by it."""

    def __init__(self, source):
        self.code, _ = swift_text.split(source)
        self.pairs = []  # (open, close, parent or None, declares a type)
        stack = []
        for found in re.finditer(r"[{}]", self.code):
            if found[0] == "{":
                stack.append(len(self.pairs))
                self.pairs.append([found.start(), None, stack[-2] if len(stack) > 1 else None, self.declares_type(found.start())])
            elif stack:
                self.pairs[stack.pop()][1] = found.start()

    def declares_type(self, brace):
        """Whether the last declaration before a brace is a type's."""
        begin = max(self.code.rfind("{", 0, brace), self.code.rfind("}", 0, brace), self.code.rfind(";", 0, brace)) + 1
        words = KEYWORD.findall(self.code[begin:brace])
        return bool(words) and words[-1] in TYPES

    def body(self, start, end):
        """The outermost function body around some characters: where it begins and ends, or None."""
        around = [pair for pair in self.pairs if pair[1] is not None and pair[0] < start and end <= pair[1]]
        around.sort()
        while around and around[0][3]:
            around.pop(0)
        if any(pair[3] for pair in around[1:]):  # a type inside a function
            return None
        while around:
            begin, finish = around[0][0] + 1, around[0][1]
            if ACCESSOR.match(self.code, begin):
                around.pop(0)
                continue
            parameters = PARAMETERS.match(self.code, begin)
            if parameters and parameters.end() <= finish:
                begin = parameters.end()
            return (begin, finish) if begin <= start else None
        return None


def value(source, code, change):
    """The initial value that a change is in: where it begins and ends, or None."""
    line = source.rfind("\n", 0, change.start) + 1
    while not (head := VALUE.match(code, line)):
        if line == 0:
            return None
        line = source.rfind("\n", 0, line - 1) + 1
    begin = end = head.end()
    depth, in_literal = 0, False
    while end < len(code) and not (code[end] == "\n" and depth == 0 and not in_literal and not CONTINUES.match(code, end)):
        if code.startswith('"""', end):
            in_literal, end = not in_literal, end + 3
            continue
        depth += 0 if in_literal else (code[end] in "([{") - (code[end] in ")]}")
        end += 1
    return (begin, end) if begin <= change.start and change.end <= end and depth == 0 else None


class Switched:
    """A source with the switches of its rows."""

    def __init__(self, source, changes):
        braces = Braces(source)
        places, self.alone = {}, []
        for one in changes:
            body = braces.body(one.start, one.end)
            where = ("body", *body) if body else None
            if not where and (found := value(source, braces.code, one)):
                where = ("value", *found)
            if where:
                places.setdefault(where, []).append(one)
            else:
                self.alone.append(one.row)
        self.parts, self.owners = [], []  # text, and the rows of which it is a part, in the same order
        position = 0
        for (kind, begin, end), rows in sorted(places.items(), key=lambda place: place[0][1]):
            if begin < position:  # a value inside a body that is switched already
                self.alone += [one.row for one in rows]
                continue
            self.put(source[position:begin], ())
            every = tuple(one.row for one in rows)
            for index, one in enumerate(rows):
                without = source[begin:one.start] + one.text + source[one.end:end]
                if kind == "body":
                    self.put("\n" if index == 0 else "\n} else ", every)
                    self.put(f"if removedRow == {one.row} {{\n", every)
                    self.put(without, (one.row,))
                else:
                    self.put(f"removedRow == {one.row} ? (", every)
                    self.put(without, (one.row,))
                    self.put(") : ", every)
            if kind == "body":
                self.put("\n} else {\n" + source[begin:end] + "\n}\n", every)
            else:
                self.put(f"({source[begin:end]})", every)
            position = end
        self.put(source[position:], ())
        self.text = "".join(self.parts)

    def put(self, text, rows):
        self.parts.append(text)
        self.owners.append(rows)

    def rows(self, line):
        """The rows of which a line, counted from one, is a part."""
        ends, total = [], 0
        for part in self.parts:
            total += part.count("\n")
            ends.append(total)
        found = set()
        first = bisect.bisect_left(ends, line - 1)
        for index in range(first, len(self.parts)):
            if index > first and ends[index - 1] >= line:
                break
            found |= set(self.owners[index])
        return found
