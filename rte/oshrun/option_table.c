/* SPDX-License-Identifier: BSD-3-Clause */
#include "option_table.h"

#include <stdio.h>
#include <string.h>

#include "say.h"

static const struct option_row option_rows[] = {
	[OPT_PES] = {{"-n", "-np", "--np"}, "N", "number of PEs (default: one per usable core)"},
	[OPT_EXPORT] = {{"-x"},
			"VAR[=VALUE]",
			"set VAR for the PEs; with another launcher, pass it to every host (repeatable)"},
	[OPT_WDIR] = {{"--wdir", "--chdir", "-wd"}, "DIR", "run the PEs in DIR"},
	[OPT_LABEL] = {{"-l", "--label", "--tag-output", "--prepend-rank"},
		       NULL,
		       "begin each line of output with its PE, as in [3]"},
	[OPT_TIMESTAMP] = {{"--timestamp"}, NULL, "begin each line of output with the time"},
	[OPT_OUTPUT] = {{"--output", "--output-dir", "--output-filename"},
			"DIR",
			"write each PE's output to a file of its own in DIR"},
	[OPT_TIMEOUT] = {{"--timeout"}, "SECONDS", "end the job after this time, with exit code 124"},
	[OPT_BIND] = {{"--bind-to"},
		      "WHAT",
		      "none, core, hwthread, socket or numa (default: core where PEs divide evenly)"},
	[OPT_DEBUG] = {{"--debug"}, "PE", "run this PE under a debugger, which reads the terminal"},
	[OPT_DEBUGGER] = {{"--debugger"}, "COMMAND", "the debugger, or a tool such as valgrind (gdb --args)"},
	[OPT_REPORT] = {{"--report-bindings", "--display-map", "--display-devel-map"},
			NULL,
			"print the processors of each PE"},
	[OPT_HOST] = {{"-H", "--host", "--hosts"},
		      "A[:N],B[:N]",
		      "hosts to run on; others than this one need another launcher"},
	[OPT_HOSTFILE] = {{"-f", "--hostfile", "--machinefile"}, "FILE", "the same, one host per line"},
	[OPT_LAUNCHER] = {{"--launcher"}, "NAME", "hand the job to prterun, mpirun or srun (none: never)"},
	[OPT_DRY_RUN] = {{"--dry-run"}, NULL, "print the actions, but do nothing"},
	[OPT_QUIET] = {{"-q", "--quiet"}, NULL, "print errors only"},
	[OPT_VERBOSE] = {{"-v", "--verbose"}, NULL, "print each action"},
	[OPT_ALWAYS] = {{"--oversubscribe", "--allow-run-as-root"}, NULL, "accepted for old scripts; always in effect"},
	[OPT_ACCEPTED] = {{"-genvall", "-envall", "--use-hwthread-cpus", "--bynode", "--byslot"}, NULL, NULL},
	[OPT_ENV] = {{"-env", "-genv"}, "VAR VALUE", NULL},
	[OPT_MCA] = {{"--mca", "--gmca"}, "NAME VALUE", NULL},
	[OPT_PER_NODE] = {{"-N", "-ppn", "--npernode", "--perhost", "--ntasks-per-node"}, "N", NULL},
	[OPT_ORDER] = {{"--map-by", "--rank-by"}, "WHAT", NULL},
	[OPT_RANKFILE] = {{"--rankfile", "-rf"},
			  "FILE",
			  "place PEs on hosts as this file says, which torusplan place writes"},
	[OPT_JOIN_TRACE] = {{"--join-trace"},
			    "FILE",
			    "make one trace of the parts FILE.PE* that PEs of another launcher left, and end"},
	[OPT_STDIN] = {{"--stdin"}, "PE", NULL},
	[OPT_HELP] = {{"-h", "--help"}, NULL, "print this"},
	[OPT_VERSION] = {{"-V", "--version"}, NULL, "print the version"},
};

const struct option_table option_table = {option_rows, sizeof option_rows / sizeof option_rows[0], .width = 32,
					  .help = "oshrun --help"};

void option_print_help(void)
{
	printf("usage: oshrun [options] program [arguments]\n"
	       "       oshrun [options] -n N program [arguments] : -n M other [arguments]\n"
	       "       oshrun --join-trace FILE\n"
	       "Runs N copies (PEs) of an OpenSHMEM program, or of any other, and ends with the worst exit code.\n\n");
	option_print_rows(&option_table);
	printf("\nA program not found in PATH is searched for in the current folder. -- ends the options.\n"
	       "Settings: SHMEM_LAUNCHER names the launcher for jobs on several hosts. See oshrun(1).\n");
}
