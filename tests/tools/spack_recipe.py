# SPDX-License-Identifier: BSD-3-Clause
"""spack_recipe.py RECIPE SPEC...: loads a recipe with stand-ins for Spack's directives and prints what it would give to configure.

SPEC is +NAME or ~NAME for a variant, or PACKAGE=PREFIX for something it depends on. Then come the directives, a line each.
"""

import sys
import types
from pathlib import Path

directives = []
variants = {}


def directive(name):
    def record(*words, **options):
        directives.append(" ".join([name, *map(str, words), *("%s=%s" % item for item in options.items())]))
        if name == "variant":
            variants[words[0]] = options["default"]

    return record


class Prefix(str):
    """A folder; its attributes are files in it."""

    def __getattr__(self, name):
        return Prefix(self + "/" + name)


class Spec:
    def __init__(self, words):
        self.on = {name: default for name, default in variants.items()}
        self.packages = {}
        for word in words:
            if word[0] in "+~":
                if word[1:] not in variants:
                    sys.exit("the recipe has no variant " + word[1:])
                self.on[word[1:]] = word[0] == "+"
            else:
                name, prefix = word.split("=")
                self.packages[name] = types.SimpleNamespace(prefix=Prefix(prefix))

    def __getitem__(self, name):
        return self.packages[name]

    def satisfies(self, condition):
        return self.on[condition[1:]] == (condition[0] == "+")


class AutotoolsPackage:
    configure_abs_path = "configure"

    def enable_or_disable(self, name, variant=None):
        return ["--%s-%s" % ("enable" if self.spec.on[variant or name] else "disable", name)]

    def with_or_without(self, name):
        return ["--%s-%s" % ("with" if self.spec.on[name] else "without", name)]


def decorator(*words, **options):
    return lambda function: function


stand_in = types.ModuleType("spack.package")
names = "version variant depends_on license filter_compiler_wrappers conflicts provides patch maintainers"
for word in names.split():
    setattr(stand_in, word, directive(word))
stand_in.AutotoolsPackage = AutotoolsPackage
stand_in.run_after = stand_in.on_package_attributes = decorator
stand_in.Executable = lambda path: None
stand_in.__all__ = [name for name in vars(stand_in) if not name.startswith("__")]
sys.modules["spack"] = types.ModuleType("spack")
sys.modules["spack.package"] = stand_in

recipe = Path(sys.argv[1])
scope = {"__file__": str(recipe), "__name__": "package"}
exec(compile(recipe.read_text(), str(recipe), "exec"), scope)
package = scope["Torushmem"]()
package.spec = Spec(sys.argv[2:])
package.prefix = Prefix("/prefix")
print("git", package.git)
print("configure", *package.configure_args())
print(*directives, sep="\n")
