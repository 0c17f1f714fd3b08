# SPDX-License-Identifier: BSD-3-Clause
# After wrap.awk. The manual page of an extension: as it is written, and how Fortran calls
# its routines at the end of the synopsis. Variables: page_file, where it goes; fortran, a
# file of lines "name<tab>call".

BEGIN {
	while ((getline line < fortran) > 0)
		call[substr(line, 1, index(line, "\t") - 1)] = substr(line, index(line, "\t") + 1)
}

/^\.Nm / { name[++names] = $2 }

/^\.Sh DESCRIPTION/ {
	print ".Pp\nFortran:\n.Bd -literal\nuse shmemx" >page_file
	for (i = 1; i <= names; i++)
		if (name[i] in call)
			wrap(call[name[i]])
	print ".Ed" >page_file
}

{ print >page_file }
