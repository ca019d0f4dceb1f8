/** A real MCP server as a program, which ends without a word when a call says "die". */
import { createRequire } from 'node:module'

process.argv[2] = 'stdio'
process.stdin.on('data', (said) => {
  if (!String(said).includes('"die"')) return
  process.stderr.write('the disk is full')
  process.exit(7)
})
await import(createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js'))
