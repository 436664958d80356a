# How every target of Stoa is built: warnings, sanitizers, the shared precompiled header, ccache and mold.
include_guard(GLOBAL)

find_program(STOA_CCACHE ccache)
if(STOA_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without these a precompiled header never hits the cache (ccache manual, "Precompiled headers").
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${STOA_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Werror -Wno-missing-field-initializers -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Wthread-safety -Wno-missing-designated-field-initializers)
  # libstdc++ 12 hides std::expected from clang, which reports an older __cpp_concepts than the header asks for;
  # clang 19 implements what the header needs.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Wno-builtin-macro-redefined> $<$<COMPILE_LANGUAGE:CXX>:-D__cpp_concepts=202002L>)
else()
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()
if(STOA_SANITIZE)
  add_compile_options(-fsanitize=${STOA_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${STOA_SANITIZE})
endif()
if(STOA_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(STOA_MOLD mold)
if(STOA_MOLD)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=${STOA_MOLD})
  else()
    add_link_options(-fuse-ld=mold)
  endif()
endif()

# The target whose precompiled header those of a folder share: that of the whole tree, unless the folder sets another one.
set(STOA_PRECOMPILED stoa_base)

# stoa_precompile(NAME [MORE...]): NAME makes a precompiled header, of the standard library and MORE; heavy third-party headers stay in .cc files.
function(stoa_precompile name)
  target_precompile_headers(${name} PRIVATE
    <algorithm> <array> <atomic> <bit> <chrono> <condition_variable> <cstdint> <cstring> <deque> <expected> <functional>
    <map> <memory> <mutex> <optional> <shared_mutex> <span> <string> <string_view> <thread> <unordered_map> <utility>
    <variant> <vector> ${ARGN})
endfunction()

# stoa_unity(NAME SOURCES...): compiles up to eight sources of one folder together, which takes a third of the time. With STOA_UNITY=OFF each
# is compiled alone: for those who change one file again and again.
option(STOA_UNITY "Compile the sources of a folder together" ON)
set(STOA_UNITY_SOURCES 8)
function(stoa_unity name)
  if(NOT STOA_UNITY)
    return()
  endif()
  set(folders "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder "${source}" DIRECTORY)
    string(MAKE_C_IDENTIFIER "folder_${folder}" key)
    if(NOT key IN_LIST folders)
      list(APPEND folders ${key})
      set(count_${key} 0)
    endif()
    math(EXPR batch "${count_${key}} / ${STOA_UNITY_SOURCES}")
    math(EXPR count_${key} "${count_${key}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${key}_${batch}")
  endforeach()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # A type of one source may have members of that source's private types. And where more is inlined, g++ 12 finds overflows in std::string's
    # own functions (GCC bug 105329 and its kin).
    target_compile_options(${name} PRIVATE -Wno-subobject-linkage -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread -Wno-restrict)
  endif()
endfunction()

# stoa_library(NAME [ALONE] SOURCES... [LINK PUBLIC|PRIVATE ...]): a static library whose includes start at the root. ALONE: its sources use the
# same private names, and are never compiled together.
function(stoa_library name)
  cmake_parse_arguments(arg "ALONE" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  if(NOT arg_ALONE)
    stoa_unity(${name} ${arg_SOURCES})
  endif()
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${arg_PUBLIC} PRIVATE ${arg_PRIVATE})
  if(NOT name STREQUAL STOA_PRECOMPILED)
    target_precompile_headers(${name} REUSE_FROM ${STOA_PRECOMPILED})
  endif()
endfunction()

# stoa_executable(NAME [TOGETHER] SOURCES... [LINK ...]): jemalloc is linked unless a sanitizer brings its own allocator. TOGETHER: its sources
# are compiled as those of a library are.
function(stoa_executable name)
  cmake_parse_arguments(arg "TOGETHER" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(arg_TOGETHER)
    stoa_unity(${name} ${arg_SOURCES})
  endif()
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK})
  if(NOT STOA_SANITIZE AND NOT STOA_FUZZ)
    target_link_libraries(${name} PRIVATE jemalloc)
  endif()
  target_precompile_headers(${name} REUSE_FROM ${STOA_PRECOMPILED})
endfunction()

# COST, set for the tests that take longest: ctest begins with these, so that none of them is left over at the end.
# stoa_test(NAME [ALONE] SOURCES... [LINK ...] [LABELS ...]): a GoogleTest binary run by ctest as one test.
function(stoa_test name)
  cmake_parse_arguments(arg "ALONE" "TIMEOUT" "SOURCES;LINK;LABELS" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  if(NOT arg_ALONE)
    set(together TOGETHER)
  endif()
  stoa_executable(${name} ${together} SOURCES ${arg_SOURCES} LINK ${arg_LINK} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT})
endfunction()

# stoa_long_test(NAME COMMAND...): the long form of a test, up to four hours. Only ctest -C Long runs it, as ./check --long does.
function(stoa_long_test name)
  if(NOT STOA_SANITIZE)
    add_test(NAME ${name} COMMAND ${ARGN} CONFIGURATIONS Long)
    set_tests_properties(${name} PROPERTIES LABELS long TIMEOUT 14400 ENVIRONMENT STOA_BUILD=${CMAKE_BINARY_DIR})
  endif()
endfunction()

# stoa_fuzz(NAME SOURCES... [LINK ...]): a libFuzzer target; only with -DSTOA_FUZZ=ON under clang. ./check runs every one
# that fuzz-targets.txt lists, with the folder corpus/NAME or corpus beside its CMakeLists.txt as seeds.
file(WRITE ${CMAKE_BINARY_DIR}/fuzz-targets.txt "")
function(stoa_fuzz name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK" ${ARGN})
  if(STOA_FUZZ)
    add_executable(${name} ${arg_SOURCES})
    target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${name} PRIVATE ${arg_LINK})
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
    file(APPEND ${CMAKE_BINARY_DIR}/fuzz-targets.txt
         "${name} ${CMAKE_CURRENT_BINARY_DIR}/${name} ${CMAKE_CURRENT_SOURCE_DIR}\n")
  endif()
endfunction()

# stoa_subdirectories(): adds every folder below this one that has a CMakeLists.txt, in alphabetical order.
function(stoa_subdirectories)
  file(GLOB lists RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS */CMakeLists.txt)
  foreach(list IN LISTS lists)
    get_filename_component(folder ${list} DIRECTORY)
    add_subdirectory(${folder})
  endforeach()
endfunction()
