import { createServer } from 'node:http'
import next from 'next'

const app = next({ dev: process.argv.includes('--dev'), dir: process.cwd(), hostname: '127.0.0.1', port: 3456 })
await app.prepare()
const handle = app.getRequestHandler()
createServer((req, res) => {
  const nonce = 'abc123'
  const csp = `default-src 'none'; script-src 'self' 'nonce-${nonce}'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; img-src 'self' data: blob:; font-src 'self'; base-uri 'none'`
  req.headers['content-security-policy'] = csp
  res.setHeader('content-security-policy', csp)
  console.log(req.rawHeaders.filter((_, i) => i % 2 === 0).join(','))
  handle(req, res)
}).listen(3456, '127.0.0.1', () => console.log('up'))
