import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { afterAll, expect, test } from 'vitest'
import { chooseBrotliCopies, writeBrotliCopies } from './brotli-copies.ts'

const build = mkdtempSync(path.join(os.tmpdir(), 'rollscope-brotli-'))
const chunks = path.join(build, 'static', 'chunks')
const SCRIPT = 'const ä = 1\n'.repeat(200)
mkdirSync(chunks, { recursive: true })
for (const name of ['a.js', 'a.css', 'late.js', 'font.woff2']) writeFileSync(path.join(chunks, name), SCRIPT)
writeFileSync(path.join(build, 'build-manifest.json'), '{"rootMainFiles":["static/chunks/a.js"]}')
const page = path.join(build, 'server', 'app', 'file', '[row]')
mkdirSync(page, { recursive: true })
writeFileSync(
  path.join(page, 'page_client-reference-manifest.js'),
  'globalThis.x={"js":["/_next/static/chunks/a.js"],"css":[{"path":"static/chunks/a.css"}],"font":"static/chunks/font.woff2"}',
)
await writeBrotliCopies(build)
const choose = chooseBrotliCopies(build)
afterAll(() => rmSync(build, { recursive: true }))

test('Files that a page names have a copy, which decompresses to the file', () => {
  expect(readdirSync(chunks).sort()).toEqual(['a.css', 'a.css.br', 'a.js', 'a.js.br', 'font.woff2', 'late.js'])
  const copy = readFileSync(path.join(chunks, 'a.js.br'))
  expect(brotliDecompressSync(copy).toString()).toBe(SCRIPT)
  expect(copy.length).toBeLessThan(100)
})

test('A build with more files than a process may open gets all copies', () => {
  const many = mkdtempSync(path.join(os.tmpdir(), 'rollscope-brotli-many-'))
  const names = Array.from({ length: 200 }, (_, number) => `static/${number}.js`)
  mkdirSync(path.join(many, 'static'))
  for (const name of names) writeFileSync(path.join(many, name), SCRIPT)
  writeFileSync(path.join(many, 'build-manifest.json'), JSON.stringify({ rootMainFiles: names }))
  const script = `import(${JSON.stringify(import.meta.resolve('./brotli-copies.ts'))}).then(({ writeBrotliCopies }) => writeBrotliCopies(${JSON.stringify(many)}))`
  execFileSync('sh', ['-c', 'ulimit -n 64 && exec "$0" -e "$1"', process.execPath, script], { stdio: 'pipe' })
  expect(readdirSync(path.join(many, 'static')).filter((name) => name.endsWith('.br'))).toHaveLength(200)
  rmSync(many, { recursive: true })
})

test.each(['br', 'gzip, deflate, br, zstd', 'BR', 'gzip;q=1.0, br;q=0.5', 'br ; q=1', 'identity, br;q=0.001'])(
  'A client that accepts %s gets the copy, with the type of its file',
  (accepted) => {
    expect(chosen({ url: '/_next/static/chunks/a.js', headers: { 'accept-encoding': accepted } })).toEqual({
      url: '/_next/static/chunks/a.js.br',
      headers: {
        vary: 'accept-encoding',
        'content-type': 'application/javascript; charset=UTF-8',
        'content-encoding': 'br',
      },
    })
  },
)

test.each([undefined, '', 'gzip', 'br;q=0', 'br; q=0.000, gzip', 'brotli', 'xbr'])(
  'A client that accepts %s gets the file',
  (accepted) => {
    const headers = accepted === undefined ? {} : { 'accept-encoding': accepted }
    expect(chosen({ url: '/_next/static/chunks/a.css', headers })).toEqual({
      url: '/_next/static/chunks/a.css',
      headers: { vary: 'accept-encoding' },
    })
  },
)

test.each([
  '/_next/static/chunks/font.woff2',
  '/_next/static/chunks/late.js',
  '/_next/static/chunks/a.js.br',
  '/_next/static/../static/chunks/a.js',
  '/chunks/a.js',
  '/',
])('A request for %s stays as it is', (url) => {
  expect(chosen({ url, headers: { 'accept-encoding': 'br' } })).toEqual({ url, headers: {} })
})

test('Other methods and ranges get the file', () => {
  const url = '/_next/static/chunks/a.js'
  for (const request of [
    { method: 'POST', headers: {} },
    { method: 'GET', headers: { range: 'bytes=0-1' } },
  ]) {
    const headers = { 'accept-encoding': 'br', ...request.headers }
    expect(chosen({ url, method: request.method, headers }).url).toBe(url)
  }
})

/** Returns the address of a request and the headers of its answer after the choice. */
function chosen(asked: Partial<Pick<IncomingMessage, 'url' | 'method' | 'headers'>>) {
  const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET' }, asked)
  const response = new ServerResponse(request)
  choose(request, response)
  return { url: request.url, headers: { ...response.getHeaders() } }
}
