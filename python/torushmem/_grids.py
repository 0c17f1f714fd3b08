# SPDX-License-Identifier: BSD-3-Clause
"""Grids of PEs, the exchange of faces with neighbours, and the torus below."""

from __future__ import annotations

import ctypes

import numpy as np

from ._job import n_pes, need_job
from ._library import INT, POINTER, SIZE, Error, routine, text
from ._teams import Team, world
from ._words import until

TYPE_CHECKING = False  # to import typing takes 3 ms
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

AXES = 6
_INTS = ctypes.POINTER(INT)


class _Cost(ctypes.Structure):
    _fields_ = [('mean_hops', ctypes.c_double), ('longest', INT), ('worst_link', ctypes.c_long)]


class _Report(ctypes.Structure):
    _fields_ = [('before', _Cost), ('after', _Cost), ('how', ctypes.c_char_p), ('logical', INT)]


_create = routine('shmemx_grid_create', INT, POINTER, INT, _INTS, _INTS, INT, POINTER)
_sizes = routine('shmemx_grid_sizes', INT, POINTER, _INTS, _INTS)
_coordinates = routine('shmemx_grid_coordinates', None, POINTER, INT, _INTS)
_pe = routine('shmemx_grid_pe', INT, POINTER, _INTS)
_neighbour = routine('shmemx_grid_neighbour', INT, POINTER, INT, INT)
_report = routine('shmemx_grid_report', None, POINTER, POINTER)
_torus_shape = routine('shmemx_torus_shape', INT, _INTS, _INTS)
_torus_coordinates = routine('shmemx_torus_coordinates', INT, INT, _INTS)
_torus_hops = routine('shmemx_torus_hops', INT, INT, INT)
_torus_source = text('shmemx_torus_source')
_exchange_create = routine('shmemx_exchange_create_grid', INT, POINTER, POINTER, INT, POINTER)
_buffer = routine('shmemx_exchange_buffer', POINTER, POINTER, INT)
_start = routine('shmemx_exchange_start', None, POINTER, INT, SIZE)
_test = routine('shmemx_exchange_test', INT, POINTER, INT)
_wait = routine('shmemx_exchange_wait', POINTER, POINTER, INT, POINTER)
_release = routine('shmemx_exchange_release', None, POINTER, INT)
_destroy = routine('shmemx_exchange_destroy', None, POINTER)


def _ints(values: Sequence[int]) -> Any:
    return (INT * max(len(values), 1))(*values)


class Grid(Team):
    """A team whose PEs have coordinates, of which the last counts fastest. Neighbours in it are near on the
    torus, where that is possible. A size of 0 is chosen. All PEs of the team call it."""

    def __init__(self, sizes: Sequence[int], wraps: bool | Sequence[bool] = True, team: Team = world,
                 reorder: bool = True) -> None:
        made = ctypes.c_void_p()
        sizes = tuple(int(size) for size in sizes)
        wraps = (wraps,) * len(sizes) if isinstance(wraps, bool) else tuple(wraps)
        if not 1 <= len(sizes) <= AXES or len(wraps) != len(sizes):
            raise ValueError('Grid: give 1 to %d sizes, and whether each dimension wraps' % AXES)
        left = team.n_pes
        for size in sizes:
            if size < 0 or size and left % size:
                raise ValueError('Grid: sizes %s: their product must divide the %d PEs of the team' %
                                 (sizes, team.n_pes))
            left //= size or 1
        if left != 1 and 0 not in sizes:
            raise ValueError('Grid: sizes %s are %d PEs, and the team has %d' %
                             (sizes, team.n_pes // left, team.n_pes))
        status = _create(team._handle, len(sizes), _ints(sizes), _ints(wraps), reorder, ctypes.byref(made))
        if status:
            raise Error('Grid: there are too many teams')
        super().__init__(made.value)
        self.dims = len(sizes)
        found = _ints(sizes)
        _sizes(self._handle, found, None)
        self.sizes, self.wraps = tuple(found), wraps

    def coordinates(self, pe: int | None = None) -> tuple[int, ...]:
        """Of a PE of the grid; without one, of this PE."""
        found = _ints([0] * self.dims)
        _coordinates(self._handle, self.my_pe if pe is None else pe, found)
        return tuple(found)

    def pe(self, *coordinates: int) -> int | None:
        """The PE there; None beyond an end."""
        found = _pe(self._handle, _ints(coordinates))
        return None if found < 0 else found

    def neighbour(self, dim: int, steps: int = 1) -> int | None:
        """The PE so many steps up along a dimension; negative steps go down. None beyond an end."""
        found = _neighbour(self._handle, dim, steps)
        return None if found < 0 else found

    def report(self) -> dict:
        """How the PEs were placed, and the mean hops to a neighbour before and after."""
        report = _Report()
        _report(self._handle, ctypes.byref(report))
        return {'how': report.how.decode(), 'logical': bool(report.logical),
                'mean_hops': (report.before.mean_hops, report.after.mean_hops)}

    def __repr__(self) -> str:
        return 'Grid(%s, PE %d at %s)' % ('x'.join(map(str, self.sizes)), self.my_pe, self.coordinates())


class Halo:
    """The exchange of an array's outermost layers with all neighbours on a grid. The array is this PE's block
    with a layer of its neighbours' elements around it; dimension i of the grid goes along axis i. It may be any
    memory. All PEs of the job make it, over all PEs in the grid:

        with Halo(grid, field) as halo:
            for step in range(steps):
                halo.start()
                ...                    # what needs no neighbours
                halo.wait()
    """

    def __init__(self, grid: Grid, field: np.ndarray) -> None:
        if field.ndim < grid.dims:
            raise ValueError('Halo: the grid has %d dimensions, and the array %d' % (grid.dims, field.ndim))
        if min(field.shape[:grid.dims]) < 3:
            raise ValueError('Halo: shape %s: each axis of the grid needs a layer at both ends, and an element between'
                             % (field.shape,))
        self._field, self._grid_dims = field, grid.dims
        self._edges, made = [], ctypes.c_void_p()
        nbytes = (SIZE * (2 * grid.dims))()
        for dim in range(grid.dims):
            for edge, inside, outside, steps in ((2 * dim, -2, -1, 1), (2 * dim + 1, 1, 0, -1)):
                nbytes[edge] = self._layer(dim, inside).nbytes
                if grid.neighbour(dim, steps) is not None:
                    self._edges.append((edge, dim, inside, outside))
        if _exchange_create(grid._handle, nbytes, 0, ctypes.byref(made)):
            raise MemoryError('Halo: the symmetric heap has no room for the layers')
        self._handle = made.value

    def _layer(self, dim: int, at: int) -> np.ndarray:
        """Without the corners of the axes of other dimensions: a view."""
        inner = [slice(None)] * self._field.ndim
        for axis in range(self._grid_dims):
            inner[axis] = slice(1, -1)
        inner[dim] = slice(at, at + 1 if at != -1 else None)
        return self._field[tuple(inner)]

    def _there(self) -> int:
        if self._handle is None:
            raise ValueError('Halo: it was freed')
        return self._handle

    def _view(self, address: int, layer: np.ndarray) -> np.ndarray:
        memory = (ctypes.c_char * layer.nbytes).from_address(address)
        return np.frombuffer(memory, layer.dtype).reshape(layer.shape)

    def start(self) -> None:
        """Sends the outermost own layers."""
        handle = self._there()
        for edge, dim, inside, _ in self._edges:
            layer = self._layer(dim, inside)
            self._view(_buffer(handle, edge), layer)[...] = layer
            _start(handle, edge, layer.nbytes)

    def wait(self, timeout: float | None = None) -> None:
        """Waits for those of the neighbours, and puts them around the block."""
        handle = self._there()
        for edge, dim, _, outside in self._edges:
            until(lambda at=edge: _test(handle, at), 'Halo', timeout)
            layer = self._layer(dim, outside)
            layer[...] = self._view(_wait(handle, edge, None), layer)
            _release(handle, edge)

    def exchange(self) -> None:
        """Starts, and waits."""
        self.start()
        self.wait()

    def free(self) -> None:
        """All PEs of the job call it."""
        _destroy(self._there())
        self._handle = None

    def __enter__(self) -> Halo:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()


# --- The torus ---

class Torus:
    """The torus that this job has."""

    def __init__(self) -> None:
        sizes, rings = _ints([0] * AXES), _ints([0] * AXES)
        axes = _torus_shape(sizes, rings)
        self.sizes = tuple(sizes[:axes])
        self.rings = tuple(map(bool, rings[:axes]))
        self.source = _torus_source().decode()

    def coordinates(self, pe: int) -> tuple[int, ...]:
        """Of the node of a PE."""
        found = _ints([0] * AXES)
        return tuple(found[:_torus_coordinates(pe, found)])

    def hops(self, pe: int, other: int) -> int:
        """Cables between the nodes of two PEs."""
        return _torus_hops(pe, other)

    def __repr__(self) -> str:
        return 'Torus(%s, from %s)' % ('x'.join('%d%s' % (size, '' if ring or size < 3 else 'm')
                                                for size, ring in zip(self.sizes, self.rings)), self.source)

    def draw(self) -> Drawing:
        """A drawing: nodes with their PEs, and cables. Notebooks show it; str() is its SVG."""
        return Drawing(self)


STEP, RADIUS, SLANT = 90, 17, (34, -26)


class Drawing:
    """SVG. The last axis goes to the right, the one before it down, a third one backwards; further ones are
    drawings of these, side by side."""

    def __init__(self, torus: Torus) -> None:
        self._torus = torus
        self._pes = {}
        for pe in range(n_pes()):
            self._pes.setdefault(torus.coordinates(pe), []).append(pe)

    def _place(self, at: tuple[int, ...]) -> tuple[float, float]:
        sizes = self._torus.sizes
        x = y = 0
        width = STEP
        for axis in reversed(range(len(sizes))):
            turn = len(sizes) - 1 - axis
            if turn == 0:
                x += at[axis] * STEP
                width = sizes[axis] * STEP
            elif turn == 1:
                y += at[axis] * STEP
            elif turn == 2:
                x += at[axis] * SLANT[0]
                y += (sizes[axis] - 1 - at[axis]) * -SLANT[1]
                width += sizes[axis] * SLANT[0]
            else:
                x += at[axis] * (width + STEP // 2)
                width = sizes[axis] * (width + STEP // 2)
        return x + STEP, y + STEP

    def _cables(self) -> Iterator[tuple]:
        torus = self._torus
        for at in np.ndindex(*torus.sizes):
            for axis, size in enumerate(torus.sizes):
                if at[axis] + 1 < size:
                    yield at, at[:axis] + (at[axis] + 1,) + at[axis + 1:], False
                elif size > 2 and torus.rings[axis]:
                    yield at, at[:axis] + (0,) + at[axis + 1:], True

    def __str__(self) -> str:
        lines, right, down = [], 0, 0
        for one, other, closes in self._cables():
            (x, y), (u, v) = self._place(one), self._place(other)
            bend = 'Q%d %d' % ((x + u) / 2 - (v - y) / 5, (y + v) / 2 + (u - x) / 5) if closes else 'L'
            lines.append('<path d="M%d %d %s %d %d"/>' % (x, y, bend, u, v))
        for at in np.ndindex(*self._torus.sizes):
            x, y = self._place(at)
            pes = self._pes.get(at, [])
            name = '' if not pes else str(pes[0]) if len(pes) == 1 else '%d–%d' % (pes[0], pes[-1])
            lines.append('<circle cx="%d" cy="%d" r="%d" fill="%s"/>' %
                         (x, y, RADIUS, 'white' if pes else 'lightgrey'))
            lines.append('<text x="%d" y="%d">%s</text>' % (x, y + 4, name))
            right, down = max(right, x), max(down, y)
        return ('<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}">\n'
                '<g fill="none" stroke="steelblue" stroke-width="2" font-family="sans-serif" font-size="12">\n'
                '<style>text {{ fill: black; stroke: none; text-anchor: middle }}</style>\n{all}\n</g>\n</svg>\n'
                ).format(w=right + STEP, h=down + STEP, all='\n'.join(lines))

    _repr_svg_ = __str__


def torus() -> Torus:
    """The torus that this job has."""
    need_job('torus')
    return Torus()
