# SPDX-License-Identifier: BSD-3-Clause
# The Python package. Besides pip install, make install puts it where PYTHONPATH can name it.
pythonpackagedir = $(datadir)/torushmem/python/torushmem
dist_pythonpackage_DATA = \
	python/torushmem/__init__.py \
	python/torushmem/_grids.py \
	python/torushmem/_interrupts.py \
	python/torushmem/_job.py \
	python/torushmem/_library.py \
	python/torushmem/_memory.py \
	python/torushmem/_plans.py \
	python/torushmem/_progress.py \
	python/torushmem/_teams.py \
	python/torushmem/_torch_mail.py \
	python/torushmem/_torch_work.py \
	python/torushmem/_types.py \
	python/torushmem/_words.py \
	python/torushmem/py.typed \
	python/torushmem/torch.py

EXTRA_DIST += pyproject.toml
