// Every pair of held and requested modes, against the rules written out by hand.
#include "core/state/conflicts.h"

#include <map>

#include "tests/core/state/table_fixture.h"

namespace stoa::core::test {
namespace {

// Rows: requested modes. Columns: held by another owner, in the order of the rows. x: conflict.
constexpr std::array<std::string_view, kModes> kExpected = {
    //                     open  deny
    //                     RWD   RWD   lockSX leaseRHW leaseOpens forbidsWR
    /* kOpenReads        */ "...x......x...",
    /* kOpenWrites       */ "....x.....xx..",
    /* kOpenDeletes      */ ".....x....x...",
    /* kOpenDeniesRead   */ "x.........xx..",
    /* kOpenDeniesWrite  */ ".x........x...",
    /* kOpenDeniesDelete */ "..x.......x...",
    /* kLockShared       */ ".......x..x...",
    /* kLockExclusive    */ "......xxx.x...",
    /* kLeaseRead        */ ".......x..x...",
    /* kLeaseHandle      */ "..............",
    /* kLeaseWrite       */ "xxxxxxxxx.xx..",
    /* kLeaseOpens       */ ".x.x......x...",
    /* kForbidsWriting   */ "..............",
    /* kForbidsReading   */ "..............",
    /* kLooks            */ "..........x...",
    /* kChanges          */ "........x.x...",
    /* kTakesName        */ ".........x....",
    /* kReadsRange       */ ".............x",
    /* kWritesRange      */ "............x.",
};

TEST(Conflicts, AreAsWrittenDown) {
  for (std::size_t asked = 0; asked < kModes; ++asked) {
    for (std::size_t held = 0; held < kModes; ++held) {
      const bool expected = held < kHeldModes && kExpected[asked][held] == 'x';
      EXPECT_EQ((conflicts_with(Modes{1} << asked) >> held & 1) != 0, expected) << asked << " against " << held;
    }
  }
}

TEST(Conflicts, AreTheSameWhoeverComesFirst) {
  for (std::size_t a = 0; a < kHeldModes; ++a) {
    for (std::size_t b = 0; b < kHeldModes; ++b) EXPECT_EQ(kExpected[a][b], kExpected[b][a]) << a << " and " << b;
  }
}

TEST(Conflicts, LeaveOfALeaseWhatIsNotInTheWay) {
  constexpr LeaseKind kDelegation = LeaseKind::kDelegation, kCache = LeaseKind::kCache;
  for (std::uint32_t bits = 0; bits <= kAllCaching; ++bits) {
    EXPECT_EQ(bits_beside(bits, kCache, 0), bits);
    // A look recalls write caching, a change cached content, the end of a name the handle.
    EXPECT_EQ(bits_beside(bits, kCache, conflicts_with(kLooks)), bits & ~kWriteCaching);
    const bool caches = (bits & (kReadCaching | kWriteCaching)) != 0;
    EXPECT_EQ(bits_beside(bits, kCache, conflicts_with(kChanges)), caches ? kLeaseNone : bits);
    EXPECT_EQ(bits_beside(bits, kCache, conflicts_with(kTakesName)), bits & ~kHandleCaching);
    EXPECT_EQ(bits_beside(bits, kCache, conflicts_with(kOpenWrites)), bits & ~kWriteCaching);
    EXPECT_EQ(bits_beside(bits, kDelegation, conflicts_with(kOpenReads)),
              (bits & kWriteCaching) != 0 ? kLeaseNone : bits);
    EXPECT_EQ(bits_beside(bits, kDelegation, conflicts_with(kOpenWrites)), caches ? kLeaseNone : bits);
  }
}

TEST(Conflicts, OfSeveralModesAreThoseOfEach) {
  for (Modes some = 0; some < Modes{1} << kModes; ++some) {
    Modes sum = 0;
    for (std::size_t i = 0; i < kModes; ++i) sum |= (some >> i & 1) != 0 ? kConflictsWith[i] : 0;
    EXPECT_EQ(conflicts_with(some), sum);
  }
}

// The same rules through the table: all state that can be held of a file against every request.
class ConflictPairs : public TableTest {
 protected:
  struct Thing {
    std::string name;
    Modes modes;
    std::function<Errc(const Client&)> get;  // 0: granted
  };
  std::vector<Thing> things() {
    std::vector<Thing> all;
    for (std::uint32_t access = kShareNone; access <= kShareAll; ++access) {
      for (std::uint32_t deny = kShareNone; deny <= kShareAll; ++deny) {
        all.push_back({"open " + std::to_string(access) + " deny " + std::to_string(deny), modes_of_open(access, deny),
                       [=, this](const Client& who) { return code(open(who, access, deny)); }});
      }
    }
    for (const bool exclusive : {false, true}) {
      all.push_back(
          {exclusive ? "exclusive lock" : "shared lock", mode_of_lock(exclusive), [=, this](const Client& who) {
             const auto locked = table().lock(kFile, {who.id, "o"}, {0, 10}, exclusive);
             return !locked ? code(locked) : *locked ? Errc::kBusy : Errc{};
           }});
    }
    for (const bool exclusive : {false, true}) {
      all.push_back({exclusive ? "exclusive mandatory lock" : "shared mandatory lock",
                     modes_of_open(kShareRead, kShareNone) | modes_of_mandatory_lock(exclusive),
                     [=, this](const Client& who) {
                       const auto opened = open(who, kShareRead);
                       if (!opened) return code(opened);
                       const auto locked = table().lock_mandatory(*opened, {0, 10}, exclusive);
                       return !locked ? code(locked) : *locked ? Errc::kBusy : Errc{};
                     }});
    }
    for (const auto& [wanted, name] : {std::pair{kReadDelegation, "read delegation"},
                                       {kWriteDelegation, "write delegation"},
                                       {kReads, "read caching"},
                                       {kReadsAndKeeps, "read and handle caching"},
                                       {kKeepsHandle, "handle caching"},
                                       {kAll, "all caching"}}) {
      all.push_back({name, modes_of_lease(wanted.bits, wanted.kind), [=, this, wanted = wanted](const Client& who) {
                       const auto granted = table().grant_lease(kFile, {who.id, {}}, wanted);
                       return granted && (granted->bits & wanted.bits) == wanted.bits ? Errc{} : Errc::kBusy;
                     }});
    }
    return all;
  }
  std::vector<Thing> accesses() {
    return {
        {"look", kLooks, [this](const Client& who) { return code(table().before_look(who.ctx(), {.file = kFile})); }},
        {"change", kChanges,
         [this](const Client& who) {
           const Touched files[] = {{.file = kFile}};
           return code(table().before_mutate(who.ctx(), files));
         }},
        {"take a name", kTakesName,
         [this](const Client& who) {
           const FileId files[] = {kFile};
           return code(table().before_name_goes(who.ctx(), files));
         }},
        {"read", kReadsRange,
         [this](const Client& who) { return code(table().before_io(who.ctx(), kFile, 9, 1, false)); }},
        {"write", kWritesRange,
         [this](const Client& who) { return code(table().before_io(who.ctx(), kFile, 9, 1, true)); }}};
  }
  static constexpr Modes kLeases = kDataLeaseModes | kLeaseHandle;
  static constexpr Modes kIo = kReadsRange | kWritesRange;
};

TEST_F(ConflictPairs, OfTwoHolders) {
  for (const Thing& held : things()) {
    auto asked_for = things();
    for (Thing& access : accesses()) asked_for.push_back(access);
    for (const Thing& asked : asked_for) {
      table_.reset();
      const Client first = client();
      const Client second = client();
      ASSERT_EQ(held.get(first), Errc{}) << held.name;
      const Modes conflict = conflicts_with(asked.modes) & held.modes;
      Errc expected{};
      if (conflict != 0) {
        if ((asked.modes & kIo) != 0)
          expected = Errc::kLocked;
        else if ((asked.modes & kLeases) != 0)
          expected = Errc::kBusy;
        else if ((conflict & kLeases) != 0)
          expected = Errc::kRecallPending;
        else if ((conflict & kOpenModes) != 0)
          expected = Errc::kShareConflict;
        else
          expected = Errc::kBusy;
      }
      EXPECT_EQ(asked.get(second), expected) << held.name << ", then " << asked.name;
      table().send_recalls();
      EXPECT_EQ(first.recalled->size(), expected == Errc::kRecallPending ? 1u : 0u)
          << held.name << ", then " << asked.name;
      EXPECT_TRUE(second.recalled->empty());
    }
  }
}

TEST_F(ConflictPairs, OfOneHolder) {
  for (const Thing& held : things()) {
    auto asked_for = things();
    for (Thing& access : accesses()) asked_for.push_back(access);
    for (const Thing& asked : asked_for) {
      table_.reset();
      const Client only = client();
      ASSERT_EQ(held.get(only), Errc{}) << held.name;
      Errc expected{};
      // Share-deny, which binds the holder's own opens, too.
      if ((conflicts_with(asked.modes & kOpenModes) & held.modes & kOpenModes) != 0) expected = Errc::kShareConflict;
      // One lease of an owner and file: a cache gets more bits, a delegation stays unchanged.
      else if ((asked.modes & kLeases) != 0 && (held.modes & kLeases) != 0)
        expected = ((asked.modes | held.modes) & kLeaseOpens) != 0 ? Errc::kBusy : Errc{};
      // Mandatory locks belong to an open, and this is another one, or none.
      else if (((held.modes | asked.modes) & kForbidsWriting) != 0) {
        if ((asked.modes & kIo) != 0 && (conflicts_with(asked.modes) & held.modes) != 0) expected = Errc::kLocked;
        if ((conflicts_with(asked.modes & kLockModes) & held.modes & kLockModes) != 0) expected = Errc::kBusy;
      }
      EXPECT_EQ(asked.get(only), expected) << held.name << ", then " << asked.name;
      EXPECT_TRUE(only.recalled->empty());
    }
  }
}

}  // namespace
}  // namespace stoa::core::test
