# SPDX-License-Identifier: BSD-3-Clause
# For the programs that make manual pages: a call or declaration in the file page_file, over
# as many lines as it takes.
function wrap(line,    cut, indent)
{
	for (indent = ""; length(indent line) > 76; indent = "    ") {
		for (cut = 76 - length(indent); cut > 0 && substr(line, cut, 2) != ", "; cut--)
			;
		if (!cut)
			break
		print indent substr(line, 1, cut) >page_file
		line = substr(line, cut + 2)
	}
	print indent line >page_file
}
