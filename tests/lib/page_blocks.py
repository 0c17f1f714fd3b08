# SPDX-License-Identifier: BSD-3-Clause
"""For tests/blocks: the blocks of a page, and whether real output is what a block shows."""

import re

KINDS = ('file', 'program', 'fragment', 'unit', 'run', 'excerpt', 'drawing', 'skip')
UNIT = r'(?: ?(?:ns|µs|us|ms|s|min|B|[kKMGT]i?B)(?:/s)?\b)?'
NUMBER = r'-?\d[\d.,]*\d(?:e[-+]?\d+)?|-?\d(?:e[-+]?\d+)?'

class Block:
    def __init__(self, line, mark, lines):
        self.line, self.lines = line, lines
        self.kind, _, self.argument = mark.partition(' ')
        self.argument = self.argument.strip()

    def text(self):
        return '\n'.join(self.lines) + '\n'


class Bad(Exception):
    pass


# --- Reading pages ---

def markdown_blocks(lines):
    """Yields (line number, language, mark or None, lines) of each fenced block."""
    fence = None
    for number, line in enumerate(lines, 1):
        found = re.match(r'( *)(```+|~~~+) *(\S*)', line)
        if fence is None and found:
            indent, fence, language = len(found.group(1)), found.group(2), found.group(3)
            above = lines[number - 2] if number > 1 else ''
            mark = re.match(r' *<!-- block: (.*?) *-->$', above)
            start, body = number, []
        elif fence is not None and line.strip() == fence:
            yield start, language, mark and mark.group(1), body
            fence = None
        elif fence is not None:
            body.append(line[indent:] if line[:indent].strip() == '' else line)
    if fence is not None:
        raise Bad('line %d: the block has no end' % start)


def plain_mdoc(line):
    for escape, plain in (('\\&', ''), ('\\-', '-'), ('\\(aq', "'"), ('\\(dq', '"'), ('\\(mc', 'µ'), ('\\e', '\\'), ('\\(rs', '\\')):
        line = line.replace(escape, plain)
    return line


def mdoc_blocks(lines):
    mark = body = None
    for number, line in enumerate(lines, 1):
        found = re.match(r'\.\\" block: (.*)', line)
        if found:
            mark = found.group(1).strip()
        elif body is None and re.match(r'\.Bd\b.*-literal', line) and mark:
            start, body = number, []
        elif body is not None and line.startswith('.Ed'):
            yield start, 'mdoc', mark, body
            mark = body = None
        elif body is not None:
            body.append(plain_mdoc(line))


def read_blocks(page):
    """The blocks with marks; a block without one is a mistake where its language can be checked."""
    with open(page, encoding='utf-8') as file:
        lines = file.read().split('\n')
    blocks = []
    for line, language, mark, body in (markdown_blocks if page.endswith('.md') else mdoc_blocks)(lines):
        if mark is None:
            raise Bad('%s:%d: the block of %s has no mark; try tests/blocks --help' % (page, line, language or 'text'))
        block = Block(line, mark, body)
        if block.kind not in KINDS:
            raise Bad('%s:%d: there is no kind "%s" of block; the kinds are %s' % (page, line, block.kind, ', '.join(KINDS)))
        blocks.append(block)
    return blocks


# --- Comparing ---

class Options:
    def __init__(self, argument):
        self.status, self.needs, self.vary, self.environment = [0], [], [], {}
        argument, at, regex = argument.partition('vary ')
        if at:
            self.vary.append(regex)
        words = argument.split()
        self.numbers, self.unordered, self.folded = ('numbers' in words, 'unordered' in words, 'folded' in words)
        for word in words:
            if word.startswith('status='):
                self.status = [int(number) for number in word[7:].split(',')]
            elif word.startswith('needs='):
                self.needs = word[6:].split(',')
            elif re.match(r'[A-Z_]+=', word):
                self.environment.update([word.split('=', 1)])
            elif word not in ('numbers', 'unordered', 'folded'):
                raise Bad('run has no option "%s"' % word)

    def status_of(self, number, count):
        if len(self.status) == 1:
            return self.status[0] if number == count else 0
        return self.status[number - 1]

    def pattern(self, line):
        """What a shown line stands for, as a regular expression."""
        rules = ['(?P<v%d>%s)' % (number, regex) for number, regex in enumerate(self.vary)]
        if self.numbers:
            rules.append('(?P<number>(?:%s)(?P<unit>%s))' % (NUMBER, UNIT))
        if self.numbers or self.folded:
            rules.append(r'(?P<blank>\s+)')
        result, at = '', 0
        for found in re.finditer('|'.join(rules), line) if rules else ():
            if found.end() == found.start():
                continue
            result += re.escape(line[at:found.start()])
            result += self.any_like(found)
            at = found.end()
        return result + re.escape(line[at:])

    def any_like(self, found):
        groups = found.groupdict()
        if groups.get('blank'):
            return r'\s*' if found.start() == 0 else r'\s+'
        if groups.get('number'):
            return '(?:%s)%s' % (NUMBER, UNIT if groups['unit'] else '')
        return '(?:%s)' % next(regex for number, regex in enumerate(self.vary) if groups['v%d' % number] is not None)


def matches(expected, real, options):
    if options.folded:
        expected, real = [' '.join(expected)], [' '.join(real)]
    if options.numbers or options.folded:
        expected, real = [line.rstrip() for line in expected], [line.rstrip() for line in real]
    patterns = [None if line.strip() == '...' else re.compile(options.pattern(line)) for line in expected]
    if options.unordered:
        return matches_unordered(patterns, real)
    if options.folded:
        end = ' ' if expected[0].endswith(' ...') else ''  # nothing may follow
        return re.fullmatch(options.pattern(expected[0]).replace(re.escape('...'), '.*'), real[0] + end, re.S) is not None
    return matches_from(patterns, real, 0, 0)


def matches_from(patterns, real, at_pattern, at_line):
    while at_pattern < len(patterns):
        if patterns[at_pattern] is None:
            return any(matches_from(patterns, real, at_pattern + 1, rest) for rest in range(at_line, len(real) + 1))
        if at_line == len(real) or not patterns[at_pattern].fullmatch(real[at_line]):
            return False
        at_pattern, at_line = at_pattern + 1, at_line + 1
    return at_line == len(real)


def matches_unordered(patterns, real):
    real = list(real)
    for pattern in patterns:
        line = next((line for line in real if pattern and pattern.fullmatch(line)), None)
        if pattern and line is None:
            return False
        if pattern:
            real.remove(line)
    return not real or None in patterns


def commands_of(block):
    """[(command, expected lines)...]; a command goes on in the next line behind a backslash."""
    result, continued = [], False
    for line in block.lines:
        if continued or line.startswith('$ '):
            part = line if continued else line[2:]
            if continued:
                result[-1][0] += '\n' + part
            else:
                result.append([part, []])
            continued = part.endswith('\\')
        elif result:
            result[-1][1].append(line)
        elif line.strip():
            raise Bad('output before the first "$ " command')
    if not result:
        raise Bad('no line begins with "$ "')
    for command in result:
        while command[1] and not command[1][-1].strip():
            command[1].pop()
    return result
