// Makes C++ of the built files: embed.mjs DIST OUTPUT writes console_files.bin, all contents one after the other, and
// console_table.cc, which tells where each begins. The same input gives the same bytes.
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const [dist, output] = process.argv.slice(2);
const types = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

function one(path, file, asset) {
  const type = types[extname(file)];
  if (type === undefined) throw new Error(`${file}: no content type is known`);
  const content = readFileSync(file);
  const etag = createHash('sha256').update(content).digest('hex').slice(0, 24);
  return { path, type, etag, asset, bytes: asset ? gzipSync(content, { level: 9 }) : content };
}

const files = [one('/', join(dist, 'index.html'), false)];
for (const name of readdirSync(join(dist, 'assets')).sort()) files.push(one(`/assets/${name}`, join(dist, 'assets', name), true));

const block = join(output, 'console_files.bin');
writeFileSync(block, Buffer.concat(files.map((file) => file.bytes)));

let begin = 0;
const rows = files.map((file) => {
  const row =
    `      {.path = "${file.path}", .content_type = "${file.type}", .bytes = part(${begin}, ${file.bytes.length}), ` +
    `.etag = "\\"${file.etag}\\"", .gzip = ${file.asset}, .immutable = ${file.asset}},`;
  begin += file.bytes.length;
  return row;
});
writeFileSync(
  join(output, 'console_table.cc'),
  `// Made by embed.mjs.
#include "appliance/console/console.h"

asm(".section .rodata\\n"
    "stoa_console_files:\\n"
    ".incbin \\"${block}\\"\\n"
    ".byte 0\\n"
    ".text\\n");
extern "C" const char stoa_console_files[];

namespace stoa::appliance {
namespace {

std::string_view part(std::size_t begin, std::size_t size) {
  return {stoa_console_files + begin, size};
}

}  // namespace

std::span<const admin::ConsoleFile> console_files() {
  static const admin::ConsoleFile kFiles[] = {
${rows.join('\n')}
  };
  return kFiles;
}

}  // namespace stoa::appliance
`,
);
