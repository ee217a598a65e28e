"""Swift source as the checks read it: code without comments and string contents, in the same lines."""

import re


def split(source):
    """Returns (code, comments): both have the lines of `source`; `code` has blanks where comments and
    string contents stood, `comments` has only the comments. Interpolated expressions count as code."""
    code, comments = [], []
    stack = []  # open string literals: (hash count, is multi-line, parenthesis depth or None)
    position, length = 0, len(source)

    def put(text, to):
        for character in text:
            code.append(character if to is code or character == "\n" else " ")
            comments.append(character if to is comments or character == "\n" else " ")

    while position < length:
        rest = source[position : position + 64]
        literal = stack[-1] if stack and stack[-1][2] is None else None
        if literal:
            hashes, multiline, _ = literal
            mark = "#" * hashes
            close = ('"""' if multiline else '"') + mark
            if rest.startswith(close):
                put(close, code)
                stack.pop()
                position += len(close)
            elif rest.startswith("\\" + mark + "("):
                put("\\" + mark + "(", None)
                stack[-1] = (hashes, multiline, 0)
                position += len(mark) + 2
            elif rest.startswith("\\" + mark) and len(rest) > len(mark) + 1:
                put(rest[: len(mark) + 2], None)
                position += len(mark) + 2
            elif rest[0] == "\n" and not multiline:
                stack.pop()  # an unfinished literal ends with its line
                put("\n", code)
                position += 1
            else:
                put(rest[0], None)
                position += 1
            continue
        if rest.startswith("//"):
            end = source.find("\n", position)
            end = length if end < 0 else end
            put(source[position:end], comments)
            position = end
        elif rest.startswith("/*"):
            end, depth = position + 2, 1
            while end < length and depth:
                if source.startswith("/*", end):
                    depth, end = depth + 1, end + 2
                elif source.startswith("*/", end):
                    depth, end = depth - 1, end + 2
                else:
                    end += 1
            put(source[position:end], comments)
            position = end
        elif opening := re.match(r'(#*)("""|")', rest):
            put(opening[0], code)
            stack.append((len(opening[1]), opening[2] == '"""', None))
            position += len(opening[0])
        else:
            if stack and rest[0] in "()":
                hashes, multiline, depth = stack[-1]
                depth += 1 if rest[0] == "(" else -1
                stack[-1] = (hashes, multiline, None if depth < 0 else depth)
            put(rest[0], code)
            position += 1
    return "".join(code), "".join(comments)


IMPORT = re.compile(
    r"(?:^|;)[ \t]*((?:@\w+(?:\([^)]*\))?\s+)*)"
    r"(?:(?:public|package|internal|fileprivate|private)\s+)?"
    r"import\s+(?:(?:typealias|struct|class|enum|protocol|let|var|func)\s+)?(\w+)",
    re.MULTILINE,
)


def imports(source):
    """Every import of a file as (line number, attributes, module)."""
    code, _ = split(source)
    return [
        (code.count("\n", 0, match.start(2)) + 1, match[1].split(), match[2]) for match in IMPORT.finditer(code)
    ]
