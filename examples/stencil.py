# SPDX-License-Identifier: BSD-3-Clause
"""Teaches the exchange of faces in Python: heat on a square plate whose left edge is hot, cut into blocks, one for each
PE. An iteration sends the outermost points of the block to the neighbours, and computes with those that came.

    oshrun -n 4 python3 stencil.py
"""

import numpy as np
import torushmem as sh

POINTS, STEPS = 120, 400

sh.init()
with sh.Grid((0, 0), wraps=False) as grid:
    rows, columns = (POINTS // size for size in grid.sizes)
    x = grid.coordinates()[1]
    # The block, with a layer of the neighbours' points around it.
    plate = np.zeros((rows + 2, columns + 2))
    if x == 0:
        plate[:, 0] = 100.0
    with sh.Halo(grid, plate) as halo:
        for step in range(STEPS):
            halo.start()
            halo.wait()
            mean = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
            change = abs(mean - plate[1:-1, 1:-1]).max()
            plate[1:-1, 1:-1] = mean
    heat = sh.sum_all(plate[1:-1, 1:-1].sum())
    change = sh.sum_all(change, 'max')
    if sh.my_pe() == 0:
        print('%d x %d points on %d x %d PEs: heat %.4f, last change %.6f' % (POINTS, POINTS, *grid.sizes, heat, change))
sh.finalize()
