#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the drawings of the guide that have a time axis: docs/guide/draw.py [FOLDER]. Each fits a screen of 400 pixels."""

import os
import sys
from html import escape

WIDTH, TOP, ROW, LANES = 400, 46, 26, (95, 305)
STYLE = '''<style>
text { font: 13px sans-serif; fill: #222 } .name { font-weight: bold; font-size: 14px } .code { font-family: monospace; font-size: 12px }
.lane { stroke: #888; stroke-width: 1.5 } .go { stroke: #1565c0; stroke-width: 2; fill: none } .ack { stroke: #c62828; stroke-width: 2; fill: none }
.box { fill: #e3f2fd; stroke: #1565c0 } .see { fill: #fff8e1; stroke: #f9a825 } .wait { fill: #eee; stroke: #999 }
.back { fill: #fff } .gap { stroke: #2e7d32; stroke-width: 2; stroke-dasharray: 5 4 }
@media (prefers-color-scheme: dark) { .back { fill: #fafafa } }
</style>'''
HEADS = ''.join('<marker id="%s" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto">'
                '<path d="M0,0 L9,4 L0,8 z" fill="%s"/></marker>' % head for head in (('go', '#1565c0'), ('ack', '#c62828')))

# A drawing: names of the two lanes, then rows of time: (kind, what...).
#   do LANE TEXT         the PE calls this
#   see LANE TEXT        what is in its memory now, as it reads it
#   wait LANE ROWS       the PE waits for so long
#   go FROM ROWS TEXT    an arrow, that takes so many rows; ack: the same, for an answer
#   all TEXT             a line through both lanes
#   next                 the next row of time
DRAWINGS = {
    'barrier': ('PE 0', 'PE 1', [
        ('do', 0, 'put data'), ('go', 0, 2, ''), ('do', 1, 'computes'), ('next',), ('next',),
        ('see', 1, 'data: old or new'), ('next',), ('all', 'shmem_barrier_all'), ('next',),
        ('see', 1, 'data: new'), ('see', 0, 'its data: new'), ('next',)]),
    'fence': ('PE 0', 'PE 1', [
        ('do', 0, 'put data'), ('go', 0, 3, ''), ('wait', 1, 5, 'wait_until(flag)'), ('next',), ('do', 0, 'fence'), ('next',),
        ('do', 0, 'p flag = 1'), ('go', 0, 3, ''), ('next',), ('next',), ('next',), ('see', 1, 'flag 1, data new'), ('next',)]),
    'signal': ('PE 0', 'PE 1', [
        ('do', 0, 'put_signal'), ('go', 0, 3, 'data, then signal'), ('wait', 1, 4, 'signal_wait'), ('next',), ('next',), ('next',), ('next',),
        ('see', 1, 'signal 1, data new'), ('next',)]),
    'credits': ('sender', 'receiver', [
        ('do', 0, 'slot 0: message 1'), ('go', 0, 1, ''), ('next',), ('do', 0, 'slot 1: message 2'), ('go', 0, 2, ''),
        ('see', 1, 'reads message 1'), ('next',), ('wait', 0, 2, ''), ('next',), ('do', 0, 'waits'), ('do', 1, 'slot 0 is free'),
        ('ack', 1, 2, 'credit'), ('next',), ('next',), ('do', 0, 'slot 0: message 3'), ('go', 0, 1, ''), ('see', 1, 'reads message 2'),
        ('next',), ('next',)]),
    'ticket': ('any PE', 'PE 0', [
        ('do', 0, 'fetch_add(next)'), ('ack', 0, 1, ''), ('next',), ('see', 1, 'next: 4, now 5'), ('go', 1, 1, 'slot 4 is yours'),
        ('next',), ('next',), ('do', 0, 'put_signal'), ('go', 0, 2, 'into slot 4'), ('next',), ('next',),
        ('see', 1, 'slot 4: full'), ('next',)]),
}


def place(lane, text):
    """Middle and half width of a box with this text."""
    half = max(40, 4 + len(text) * 3.8)
    return min(max(LANES[lane], half + 2), WIDTH - half - 2), half


def box(lane, y, text, style):
    middle, half = place(lane, text)
    return ('<rect class="%s" x="%g" y="%g" width="%g" height="20" rx="3"/><text class="code" x="%g" y="%g" text-anchor="middle">%s</text>'
            % (style, middle - half, y - 10, 2 * half, middle, y + 4, escape(text)))


def arrow(kind, start, y, rows, text, source):
    """From the edge of the box that was drawn last in its lane."""
    end, edge = 1 - start, 1 if start == 0 else -1
    middle, half = place(start, source)
    x1, x2 = middle + half * edge, LANES[end] - 8 * edge
    line = '<line class="%s" x1="%g" y1="%g" x2="%g" y2="%g" marker-end="url(#%s)"/>' % (kind, x1, y, x2, y + rows * ROW - 12, kind)
    if text:
        line += '<text x="%g" y="%g" text-anchor="middle">%s</text>' % ((x1 + x2) / 2 + 8, y + rows * ROW / 2 - 16, escape(text))
    return line


def draw(left, right, steps):
    y, lines, boxes, last = TOP, [], [], ['', '']
    for step in steps:
        kind = step[0]
        if kind == 'next':
            y += ROW
        elif kind == 'all':
            lines.append('<line class="gap" x1="10" x2="%d" y1="%g" y2="%g"/>' % (WIDTH - 10, y, y))
            boxes.append('<rect class="back" x="125" y="%g" width="150" height="18"/><text class="code" x="200" y="%g" text-anchor="middle">%s</text>'
                         % (y - 9, y + 4, escape(step[1])))
        elif kind in ('go', 'ack'):
            lines.append(arrow(kind, step[1], y, step[2], step[3], last[step[1]]))
        elif kind == 'wait':
            lines.append('<rect class="wait" x="%g" y="%g" width="12" height="%g"/>' % (LANES[step[1]] - 6, y - 8, step[2] * ROW))
            if step[3]:
                boxes.append(box(step[1], y - 2, step[3], 'wait'))
        else:
            boxes.append(box(step[1], y, step[2], 'box' if kind == 'do' else 'see'))
            last[step[1]] = step[2]
    height = y + 10
    lanes = ''.join('<text class="name" x="%d" y="18" text-anchor="middle">%s</text><line class="lane" x1="%d" x2="%d" y1="26" y2="%d"/>'
                    % (x, escape(name), x, x, height - 4) for x, name in zip(LANES, (left, right)))
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d">%s<defs>%s</defs>'
            '<rect class="back" width="100%%" height="100%%"/>%s%s%s</svg>\n'
            % (WIDTH, height, WIDTH, height, STYLE, HEADS, lanes, '\n'.join(lines), '\n'.join(boxes)))


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.realpath(__file__))
    for name, drawing in DRAWINGS.items():
        with open(os.path.join(folder, name + '.svg'), 'w', encoding='utf-8') as file:
            file.write(draw(*drawing))


main()
