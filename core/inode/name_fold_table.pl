#!/usr/bin/perl
# Prints name_fold_table.h: the simple case folding of Unicode (CaseFolding.txt, statuses C and S), as Perl's own tables have it.
use strict;
use warnings;
use Unicode::UCD qw(casefold);

my @runs;    # [first, last, step, delta]
for my $code (0 .. 0x10ffff) {
    my $fold = casefold($code) or next;
    next if $fold->{simple} eq '';
    my $delta = hex($fold->{simple}) - $code;
    next if $delta == 0;
    my $run = $runs[-1];
    if ($run && $run->[3] == $delta) {
        my $step = $code - $run->[1];
        if (($run->[0] == $run->[1] && $step <= 2) || $step == $run->[2]) {
            @$run[1, 2] = ($code, $step);
            next;
        }
    }
    push @runs, [$code, $code, 1, $delta];
}
my $version = Unicode::UCD::UnicodeVersion();
print <<"END";
// The simple case folding of Unicode $version (CaseFolding.txt, statuses C and S): printed by name_fold_table.pl.
#pragma once

#include <cstdint>

namespace stoa::core {

// Each code point from `first` to `last` in steps of `step` folds to itself plus `delta`.
struct FoldRun {
  std::uint32_t first;
  std::uint32_t last;
  std::uint8_t step;
  std::int32_t delta;
};

// In ascending order, without overlap. Stored keys were made with it (family fold): another version of Unicode is
// another format.
inline constexpr FoldRun kFoldRuns[] = {
END
printf "    {0x%04x, 0x%04x, %d, %d},\n", @$_ for @runs;
print <<'END';
};

}  // namespace stoa::core
END
