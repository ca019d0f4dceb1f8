/** The rows of the threat model that hold from the start, each tried from outside on the built application. */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type APIRequestContext, expect, type Page, test } from '@playwright/test'
import {
  APPLICATION_URL,
  AUTHORIZED,
  ask,
  CHANGING,
  greedy,
  HUB_PORT,
  idle,
  open,
  PORT,
  postImport,
  shownKey,
  startApplication,
  stopApplication,
  TOKEN,
  whenQuiet,
} from '../support/application.ts'
import { raw, request as rawRequest } from '../support/raw-http.ts'
import { CORE } from '../support/tags.ts'

const HOST = `host: 127.0.0.1:${PORT}`
const BEARER = `authorization: Bearer ${TOKEN}`

/** Returns every path of the HTTP interface that requires a token, with parameters filled in, and one that does not exist. */
async function guardedPaths(request: APIRequestContext): Promise<readonly string[]> {
  const { paths } = await (await request.get('/api/openapi.json', { headers: AUTHORIZED })).json()
  const guarded = Object.keys(paths).filter((described) => described !== '/api/health')
  return ['/api/some/where', ...guarded.map((described) => described.replace(/\{[\w*]+\}/g, 'x'))]
}
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** A request on a raw socket, and the statuses that it may get. */
interface RawCase {
  readonly method?: string
  readonly target: string
  readonly lines: readonly string[]
  readonly body?: string
  readonly statuses: readonly number[]
}

/** Sends each request, and expects its status and no header that allows another origin. */
async function expectStatuses(cases: readonly RawCase[]): Promise<void> {
  const wrongs: string[] = []
  for (const { method = 'GET', target, lines, body, statuses } of cases) {
    const { status, headers } = await raw(rawRequest(method, target, lines, body))
    const allowing = Object.keys(headers).filter((name) => name.startsWith('access-control'))
    if (!statuses.includes(status) || allowing.length > 0)
      wrongs.push(`${method} ${target} with ${JSON.stringify(lines)}: ${[status, ...allowing].join(', ')}`)
  }
  expect(wrongs).toEqual([])
}

/** Returns an item by a running number, so that requests to many routes together try every item. */
const turn = <T>(values: readonly T[], number: number): T => values[number % values.length] as T

/** Returns whether a request gets a page, which has no data, although the path is also that of a route. */
const isPage = (method: string, route: string): boolean => method === 'GET' && route === '/sessions'

const servers: Server[] = []
test.afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** Starts a server that records the paths and headers of the requests that it receives. */
async function canary(
  answer: (path: string) => { status: number; headers?: Record<string, string>; body?: string } = () => ({
    status: 200,
  }),
) {
  const hits: { path: string; headers: Record<string, unknown> }[] = []
  const server = createServer((incoming, response) => {
    hits.push({ path: incoming.url ?? '', headers: incoming.headers })
    const { status, headers, body } = answer(incoming.url ?? '')
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body ?? '{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    port: (server.address() as AddressInfo).port,
    hits,
  }
}

async function saveServer(request: APIRequestContext, name: string, data: object) {
  await request.delete(`/api/servers/${name}`, { headers: CHANGING, data: {} })
  return request.post('/api/servers', { headers: CHANGING, data: { name, ...data } })
}

test('H1: only known hosts are answered', { tag: CORE }, async () => {
  const targets = [
    '/',
    '/t/x',
    '/icon.svg',
    '/api/health',
    '/api/servers',
    '/sglang/model_info',
    '/model_info',
    '/nowhere',
  ]
  const foreign = [
    ['host: evil.example'],
    [`host: 127.0.0.1.evil.example:${PORT}`],
    [`host: localhost.:${PORT}`],
    [HOST, 'host: evil.example'],
    [HOST, HOST],
    ['host: a b@c'],
    [`host: x@127.0.0.1:${PORT}`],
    ['host:'],
  ]
  await expectStatuses(
    targets.flatMap((target) => foreign.map((lines) => ({ target, lines: [...lines, BEARER], statuses: [400, 403] }))),
  )
  expect((await raw(rawRequest('GET', '/', ['host: evil.example']))).body).not.toContain('<html')
  expect((await raw(`GET /api/servers HTTP/1.0\r\n${BEARER}\r\n\r\n`)).status).toBe(403)
  expect((await raw(`GET / HTTP/1.1\r\nconnection: close\r\n\r\n`)).status).toBe(400)
  // Tunnels map ports, so loopback names are accepted with any port.
  await expectStatuses(
    ['127.0.0.1:1', 'localhost', 'LOCALHOST:8888', '[::1]:3000'].map((host) => ({
      target: '/api/servers',
      lines: [`host: ${host}`, BEARER],
      statuses: [200],
    })),
  )
  // Absolute targets are for proxies.
  await expectStatuses(
    [
      'http://evil.example/api/servers',
      `http://127.0.0.1:${PORT}/api/servers`,
      '//evil.example/',
      '/\\evil.example/',
    ].map((target) => ({ target, lines: [HOST, BEARER], statuses: [400] })),
  )
})

test('H2: forwarded headers change nothing', { tag: CORE }, async () => {
  const plain = await raw(rawRequest('GET', '/api/servers', [HOST, BEARER]))
  for (const line of [
    'x-forwarded-host: evil.example',
    'x-forwarded-proto: https',
    'forwarded: host=evil.example;proto=https',
    'x-forwarded-for: 1.2.3.4',
    'x-forwarded-port: 1',
  ])
    expect((await raw(rawRequest('GET', '/api/servers', [HOST, BEARER, line]))).body, line).toBe(plain.body)
  expect(
    (await raw(rawRequest('GET', '/api/servers', ['host: evil.example', `x-forwarded-${HOST}`, BEARER]))).status,
  ).toBe(403)
})

test('H3, H4, H9: pages of other origins are refused, for every request', { tag: CORE }, async ({ request }) => {
  const change = [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/json']
  const foreign = [
    'origin: http://evil.example',
    'origin: null',
    `origin: https://127.0.0.1:${PORT}`,
    `origin: http://127.0.0.1:${PORT + 1}`,
    `origin: http://localhost:${PORT}`,
    `origin: http://127.0.0.1:${PORT}, http://evil.example`,
    'sec-fetch-site: cross-site',
    'sec-fetch-site: same-site',
    'sec-fetch-site: odd',
  ]
  const refused = (method: string, target: string, line: string): RawCase => ({
    method,
    target,
    lines: [...change, line],
    body: '{}',
    statuses: [403],
  })
  const guarded = await guardedPaths(request)
  expect(guarded.length).toBeGreaterThan(40)
  await expectStatuses([
    ...METHODS.flatMap((method) => foreign.map((line) => refused(method, '/api/servers', line))),
    ...[...guarded, '/sglang/model_info', '/model_info'].map((route, i) =>
      refused(isPage(turn(METHODS, i), route) ? 'POST' : turn(METHODS, i), route, turn(foreign, i)),
    ),
    ...['/api/servers', '/sglang/model_info'].map((target) => ({
      target,
      lines: [HOST, BEARER, `origin: http://127.0.0.1:${PORT}`, 'origin: http://evil.example'],
      statuses: [400],
    })),
    ...['/', '/icon.svg', '/api/health', '/api/servers', '/api/trajectories', '/sglang/model_info', '/model_info'].map(
      (target) => ({ target, lines: [HOST, BEARER], statuses: [200] }),
    ),
    ...['/', '/api/health', '/api/servers', '/sglang/generate', '/generate'].map((target) => ({
      method: 'OPTIONS',
      target,
      lines: [
        HOST,
        'origin: http://evil.example',
        'access-control-request-method: POST',
        'access-control-request-headers: authorization',
      ],
      statuses: [403, 405],
    })),
  ])
})

test('a method that a path does not support is refused with the list of its methods', { tag: CORE }, async ({
  request,
}) => {
  const response = await request.fetch('/api/trajectories/x', { method: 'PUT', headers: CHANGING, data: {} })
  expect([response.status(), response.headers().allow]).toEqual([405, 'GET, PATCH, DELETE'])
  expect(await response.json()).toMatchObject({ code: 'METHOD', hint: 'Methods: GET, PATCH, DELETE.' })
  const none = await request.get('/api', { headers: AUTHORIZED })
  expect([none.status(), (await none.json()).code]).toEqual([404, 'NO_ROUTE'])
})

test('H5, H7: every route requires the token, for every method', { tag: CORE }, async ({ request }) => {
  const without: readonly (readonly string[])[] = [
    [],
    ['authorization: Bearer'],
    ['authorization: Bearer wrong-token-0123456789'],
    [`authorization: ${TOKEN}`],
    [`authorization: Basic ${btoa(`x:${TOKEN}`)}`],
    [`cookie: token=${TOKEN}; rollscope.token=${TOKEN}`],
  ]
  await expectStatuses([
    // Only clients of sessions send the token as a key.
    ...[...without, [`x-api-key: ${TOKEN}`]].map((lines) => ({
      target: '/api/servers',
      lines: [HOST, ...lines],
      statuses: [401],
    })),
    ...(await guardedPaths(request)).flatMap((route, i) =>
      METHODS.filter((method) => !isPage(method, route)).map((method, j) => ({
        method,
        target: i % 2 === 0 ? route : `${route}?token=${TOKEN}`,
        lines: [HOST, ...turn(without, i + j)],
        statuses: [401],
      })),
    ),
  ])
  const { body } = await raw(rawRequest('GET', '/api/servers', [HOST]))
  expect(JSON.parse(body)).toMatchObject({ code: 'TOKEN_REQUIRED', hint: expect.any(String) })
})

test('H6: no trick of the framework bypasses the handler', { tag: CORE }, async () => {
  const tricks: [string, string[]][] = [
    ['/api/servers', ['x-middleware-subrequest: middleware:middleware:middleware:middleware:middleware']],
    ['/api/servers', ['x-middleware-subrequest: src/middleware:src/middleware']],
    ['/api/servers', ['next-resume: 1']],
    ['/api/servers', ['x-nextjs-data: 1']],
    ['/api/servers', ['rsc: 1', 'next-router-prefetch: 1']],
    ['/api/servers', ['x-invoke-path: /api/health']],
    ['/api/servers', ['x-matched-path: /api/health']],
    ['/api/servers.rsc', []],
    ['/api/servers?_rsc=1', []],
    ['/api/servers/.segments/x.segment.rsc', []],
    ['/api//servers', []],
    ['/api/%73ervers', []],
    ['/api/./servers', []],
    ['/api/x/../servers', []],
    ['/api/x/%2e%2e/servers', []],
    ['/API/servers', []],
    ['/api/servers/', []],
    ['/_next/data/x/api/servers.json', []],
    ['/_next/../api/servers', []],
  ]
  for (const [target, lines] of tricks) {
    const { status, body } = await raw(rawRequest('GET', target, [HOST, ...lines]))
    expect([target, lines, status]).not.toEqual([target, lines, 200])
    expect(body).not.toContain('baseUrl')
  }
})

test('H10: no answer can be framed, sniffed or embedded', { tag: CORE }, async () => {
  for (const [target, lines] of [
    ['/', [HOST]],
    ['/nowhere', [HOST]],
    ['/t/x', [HOST]],
    ['/icon.svg', [HOST]],
    ['/api/health', [HOST]],
    ['/api/servers', [HOST, BEARER]],
    ['/api/servers', [HOST]],
    ['/api/nowhere', [HOST, BEARER]],
    ['/', ['host: evil.example']],
    ['/sglang/model_info', [HOST]],
  ] as const) {
    const { headers } = await raw(rawRequest('GET', target, lines))
    expect(headers).toMatchObject({
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    })
    expect(headers).not.toHaveProperty('x-powered-by')
  }
})

test.describe('H11: the application listens on one address only', () => {
  // lib/server/config.test.ts covers every spelling.
  test('HOST=0.0.0.0 is refused before it listens', { tag: CORE }, () => {
    const { status, stderr } = spawnSync('node', ['scripts/serve.ts'], {
      env: { ...process.env, HOST: '0.0.0.0', PORT: String(HUB_PORT) },
      encoding: 'utf8',
      timeout: 30_000,
    })
    expect(status).toBe(1)
    expect(stderr).toContain('would listen on every address')
  })

  test('requests to other addresses of this machine get no answer', { tag: CORE }, async () => {
    const others = Object.values(os.networkInterfaces())
      .flat()
      .filter((found) => found && !found.internal && found.family === 'IPv4')
    for (const other of others)
      await expect(
        fetch(`http://${other?.address}:${PORT}/api/health`, { signal: AbortSignal.timeout(2_000) }),
      ).rejects.toThrow()
  })
})

test('C1: a request that changes state must be one that no form can send', { tag: CORE }, async ({ request }) => {
  const changing: readonly (readonly [string, string])[] = [
    ['POST', '/api/servers'],
    ['PUT', '/api/servers/x'],
    ['DELETE', '/api/servers/x'],
    ['POST', '/api/rollouts'],
    ['POST', '/api/trajectories/x/continue'],
    ['PATCH', '/api/trajectories/x'],
    ['DELETE', '/api/trajectories/x'],
    ['POST', '/api/trajectories/x/restore'],
    ['POST', '/api/export'],
    ['POST', '/api/export/preview'],
    ['POST', '/api/import'],
    ['POST', '/api/trajectories/x/tokenizer'],
  ]
  const types = [
    ['content-type: text/plain'],
    ['content-type: application/x-www-form-urlencoded'],
    ['content-type: multipart/form-data; boundary=x'],
    ['content-type: text/plain; application/json'],
    [],
  ]
  const marks = [[], ['x-rollscope: 0'], ['x-rollscope: true']]
  const body = JSON.stringify({ name: 'forged', baseUrl: 'http://127.0.0.1:1' })
  const list = async () => (await request.get('/api/servers', { headers: AUTHORIZED })).text()
  const before = await list()
  const wrongType = (method: string, target: string, type: readonly string[]): RawCase => ({
    method,
    target,
    lines: [HOST, BEARER, 'x-rollscope: 1', ...type],
    body,
    statuses: [415],
  })
  const unmarked = (method: string, target: string, mark: readonly string[]): RawCase => ({
    method,
    target,
    lines: [HOST, BEARER, 'content-type: application/json', ...mark],
    body,
    statuses: [403],
  })
  await expectStatuses([
    ...types.map((type) => wrongType('POST', '/api/servers', type)),
    ...marks.map((mark) => unmarked('POST', '/api/servers', mark)),
    ...changing.flatMap(([method, target], i) => [
      wrongType(method, target, turn(types, i)),
      unmarked(method, target, turn(marks, i)),
    ]),
  ])
  expect(await list()).toBe(before)
  // No form can send the header, so with it a body of any type is accepted.
  await expectStatuses(
    ['/api/rollouts/x/cancel', '/api/groups/x/cancel'].flatMap((target) =>
      [...marks, ['x-rollscope: 1']].flatMap((mark) =>
        [[], ['content-type: application/json'], ['content-type: text/plain']].map((type) => ({
          method: 'POST',
          target,
          lines: [HOST, BEARER, ...type, ...mark],
          statuses: [mark[0] === 'x-rollscope: 1' ? 404 : 403],
        })),
      ),
    ),
  )
})

test('C4: bodies and headers have their limits', { tag: CORE }, async () => {
  const large = await raw(
    `${rawRequest('POST', '/api/rollouts', [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/json', 'content-length: 10000000000']).trimEnd()}\r\n\r\n`,
  )
  expect(large.status).toBe(413)
  const file = await raw(
    `${rawRequest('POST', '/api/import', [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/octet-stream', 'content-length: 10000000000']).trimEnd()}\r\n\r\n`,
  )
  expect(file.status).toBe(413)
  expect((await raw(rawRequest('GET', '/api/servers', [HOST, BEARER, `x-large: ${'x'.repeat(20_000)}`]))).status).toBe(
    431,
  )
  const cut = await raw(
    rawRequest(
      'POST',
      '/api/servers',
      [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/json'],
      `{"name":"${'x'.repeat(1 << 20)}"}`,
    ),
  )
  expect(cut.status).toBe(413)
})

test('N1: pages accept only requests that read', { tag: CORE }, async () => {
  for (const lines of [
    ['next-action: 0123456789abcdef0123456789abcdef01234567'],
    ['content-type: text/x-component'],
    ['content-type: multipart/form-data; boundary=x'],
  ])
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
      expect([404, 405]).toContain((await raw(rawRequest(method, '/', [HOST, ...lines], '[]'))).status)
  expect([400, 404]).toContain(
    (await raw(rawRequest('GET', '/_next/image?url=http%3A%2F%2Fevil.example%2Fx.png&w=64&q=75', [HOST]))).status,
  )
})

test('N2: the content security policy allows no foreign source, and each page has a new nonce', {
  tag: CORE,
}, async () => {
  const { headers } = await raw(rawRequest('GET', '/', [HOST]))
  const policy = Object.fromEntries(
    (headers['content-security-policy'] ?? '')
      .split('; ')
      .map((part) => [part.split(' ')[0], part.split(' ').slice(1).join(' ')]),
  )
  expect(policy).toMatchObject({
    'default-src': "'none'",
    'connect-src': "'self'",
    'img-src': "'self' data: blob:",
    'font-src': "'self'",
    'worker-src': "'self'",
    'base-uri': "'none'",
    'form-action': "'none'",
    'frame-ancestors': "'none'",
  })
  expect(policy['script-src']).toMatch(/^'self' 'nonce-[\w+/=]{20,}'$/)
  expect(policy['style-src']).toMatch(/^'self' 'nonce-[\w+/=]{20,}'$/)
  const again = await raw(rawRequest('GET', '/', [HOST]))
  expect(again.headers['content-security-policy']).not.toBe(headers['content-security-policy'])
})

// lib/engine/http/address.test.ts covers every spelling. OWN is the port of this worker's application.
test('U1, U2: an address that cannot be a server’s is refused, and nothing is saved', { tag: CORE }, async ({
  request,
}) => {
  for (const address of [
    'file:///etc/passwd',
    'http://127.0.0.1:1\r\nx: y',
    'http://127.0.0.1:OWN/api',
    'http://[::1]:OWN',
    'http://2852039166',
    'http://[::ffff:169.254.169.254]',
  ]) {
    const answer = await saveServer(request, 'refused', { baseUrl: address.replace('OWN', String(PORT)) })
    expect([address, answer.status(), (await answer.json()).code]).toEqual([address, 400, 'ADDRESS_REFUSED'])
  }
  expect(await (await request.get('/api/servers', { headers: AUTHORIZED })).text()).not.toContain('refused')
  expect((await saveServer(request, 'own', { baseUrl: `${APPLICATION_URL}/sglang` })).status()).toBe(201)
})

test('U4: a redirect is not followed, and its target gets no key', { tag: CORE }, async ({ request }) => {
  const target = await canary()
  for (const status of [301, 302, 303, 307, 308]) {
    const redirecting = await canary(() => ({ status, headers: { location: `${target.baseUrl}/model_info` } }))
    await saveServer(request, 'redirecting', { baseUrl: redirecting.baseUrl, apiKey: 'sk-canary-of-redirects' })
    const answer = await (await request.get('/api/servers/redirecting/status', { headers: AUTHORIZED })).json()
    expect(answer, `status ${status}`).toMatchObject({ state: 'failed', code: 'UPSTREAM_REDIRECT' })
    expect([status, redirecting.hits.length > 0, target.hits]).toEqual([status, true, []])
  }
})

const KEY = 'sk-canary-4f8a1c9d'
const spellings = [
  KEY,
  Buffer.from(KEY).toString('base64').replace(/=+$/, ''),
  encodeURIComponent(KEY),
  [...KEY].reverse().join(''),
]

test('S3: a key stays with its origin', { tag: CORE }, async ({ request }) => {
  const first = await canary()
  const second = await canary()
  await saveServer(request, 'moving', { baseUrl: first.baseUrl, apiKey: KEY })
  const put = (data: object) =>
    request.put('/api/servers/moving', { headers: CHANGING, data: { name: 'moving', ...data } })
  // The path changes but not the origin, so the key is kept.
  expect(await (await put({ baseUrl: `${first.baseUrl}/v2` })).json()).toMatchObject({ hasKey: true })
  for (const moved of [second.baseUrl, first.baseUrl.replace('127.0.0.1', 'localhost')]) {
    expect(await (await put({ baseUrl: moved })).json()).toMatchObject({ hasKey: false })
    await request.get('/api/servers/moving/status', { headers: AUTHORIZED })
  }
  expect(second.hits.length).toBeGreaterThan(0)
  expect(JSON.stringify(second.hits)).not.toContain(KEY)
  // Back at the first origin, the key must be entered again.
  expect(await (await put({ baseUrl: first.baseUrl })).json()).toMatchObject({ hasKey: false })
})

/** Collects what the content security policy blocks in any document of the page. */
async function watchPolicy(page: Page): Promise<string[]> {
  const violations: string[] = []
  await page.exposeFunction('reportViolation', (violation: string) => violations.push(violation))
  await page.addInitScript(() =>
    document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      (window as unknown as { reportViolation: (violation: string) => void }).reportViolation(
        `${violatedDirective} ${blockedURI}`,
      ),
    ),
  )
  return violations
}

test('C2, H5, N2, S1, S2, S4: an address starts nothing, and the key and the token cannot be read anywhere', async ({
  page,
  context,
}) => {
  const data = test.info().outputPath()
  const application = await startApplication(data)
  const { base, child } = application
  let log = ''
  for (const output of [child.stdout, child.stderr]) output?.on('data', (chunk) => (log += chunk))
  const call = (target: string, body?: object) =>
    fetch(base + target, { headers: CHANGING, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  const bodies: string[] = []
  const referers: string[] = []
  const changes: string[] = []
  page.on('response', async (response) => bodies.push(await response.text().catch(() => '')))
  page.on('request', (sent) => {
    referers.push(sent.headers().referer ?? '')
    if (sent.method() !== 'GET') changes.push(sent.url())
  })
  const violations = await watchPolicy(page)
  try {
    const watched = await canary()
    const echoing = await canary((target) => ({
      status: target === '/ready' ? 200 : 500,
      body: JSON.stringify({ error: { message: `you sent Bearer ${KEY}` }, api_key: KEY }),
    }))
    await call('/api/servers', { name: 'watched', baseUrl: watched.baseUrl })
    const saved = await call('/api/servers', { name: 'keyed', baseUrl: echoing.baseUrl, apiKey: KEY })
    expect(await saved.json()).toEqual({ name: 'keyed', baseUrl: echoing.baseUrl, source: 'saved', hasKey: true })

    await test.step('no address starts a run or changes a setting', async () => {
      const quiet = whenQuiet(page)
      for (const address of [
        '/t/x?prompt=hello&send=1',
        '/?t=x&continue=1',
        `/?q=hello&prompt=hello&text=hello&send=1&run=1&autostart=true&server=watched&baseUrl=${encodeURIComponent(watched.baseUrl)}#prompt=hello`,
      ]) {
        await open(page, address, base)
        await quiet()
      }
      await expect(page.getByRole('combobox', { name: 'Server', exact: true })).toHaveValue('built-in')
      expect(await page.getByLabel('Question').inputValue()).not.toContain('hello')
      expect(String(await page.evaluate(() => localStorage.getItem('rollscope.setup')))).not.toMatch(
        /hello|watched|http/,
      )
      expect([changes, watched.hits]).toEqual([[], []])
    })

    await test.step('a server gets its key, and its echo of the key is not shown', async () => {
      await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('keyed')
      await expect(page.getByRole('status').filter({ hasText: 'failed' })).toBeVisible()
      await page.getByRole('button', { name: /Send/ }).click()
      await expect(page.getByRole('alert').filter({ hasText: 'failed' }).first()).toBeVisible()
      expect(echoing.hits.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true)
    })

    await test.step('a run puts the token into no address, cookie or referer', async () => {
      await page.getByRole('combobox', { name: 'Server', exact: true }).selectOption('built-in')
      await greedy(page)
      await ask(page, 'What is 2 + 5?')
      await page.getByRole('button', { name: 'Open' }).click()
      await expect(page.getByRole('dialog')).toBeVisible()
      await page.keyboard.press('Escape')
      const addresses = await page.evaluate(() => window.navigation.entries().map(({ url }) => url))
      expect(addresses.length).toBeGreaterThan(2)
      expect([...addresses, ...referers].join(' ')).not.toContain(TOKEN)
      expect(await context.cookies()).toEqual([])
      expect(await page.evaluate(() => Object.values(localStorage).join(' '))).toContain(TOKEN)
    })

    await test.step('the key is in no answer, page or storage', async () => {
      const key = await shownKey(page)
      for (const target of [
        '/api/servers',
        '/api/capabilities',
        '/api/openapi.json',
        '/api/trajectories',
        `/api/trajectories/${key}`,
        `/api/trajectories/${key}/export`,
        '/api/servers/keyed/status',
      ])
        bodies.push(await (await call(target)).text())
      bodies.push(
        await page.content(),
        await page.evaluate(async () =>
          JSON.stringify([
            { ...localStorage },
            { ...sessionStorage },
            await indexedDB.databases(),
            await caches.keys(),
          ]),
        ),
      )
      for (const spelling of spellings) expect(bodies.join('\n')).not.toContain(spelling)
    })

    await test.step('the page needs nothing that its policy blocks, and an injected script is blocked', async () => {
      expect(violations).toEqual([])
      await page.evaluate(() => {
        const script = document.createElement('script')
        script.textContent = 'window.injected = true'
        document.body.append(script)
      })
      expect(await page.evaluate(() => 'injected' in window)).toBe(false)
      await expect.poll(() => violations.join(' ')).toContain('script-src')
    })

    await test.step('the key is on disk only in a file that the user alone can read, and not in the log or the process list', () => {
      for (const spelling of spellings) {
        expect(log).not.toContain(spelling)
        for (const entry of readdirSync(data, { recursive: true, withFileTypes: true })) {
          if (!entry.isFile() || entry.name === 'servers.json') continue
          const file = path.join(entry.parentPath, entry.name)
          expect(readFileSync(file).includes(spelling), file).toBe(false)
        }
        if (process.platform === 'linux')
          for (const source of ['cmdline', 'environ'])
            expect(readFileSync(`/proc/${child.pid}/${source}`).includes(spelling), source).toBe(false)
      }
      expect(readFileSync(path.join(data, 'servers.json'), 'utf8')).toContain(KEY)
      expect(readdirSync(data).length).toBeGreaterThan(1)
    })
  } finally {
    expect(await stopApplication(application, 'SIGTERM')).toBe(0)
  }
})

test('R1, R2: foreign text is text, and requests nothing', async ({ page, request }) => {
  const outside: string[] = []
  const dialogs: string[] = []
  const violations = await watchPolicy(page)
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    dialog.dismiss()
  })
  await page.route('**', (route) => {
    if (new URL(route.request().url()).origin === APPLICATION_URL || route.request().url().startsWith('data:'))
      return route.continue()
    outside.push(route.request().url())
    return route.abort()
  })
  const payloads = [
    '<script>alert(1)</script>',
    '<img src=http://evil.example/x onerror=alert(1)>',
    '<svg onload=alert(1)>',
    '"><iframe src=javascript:alert(1)>',
    '![x](http://evil.example/y.png)',
    '[x](javascript:alert(1))',
    '<a href="data:text/html,<script>alert(1)</script>">x</a>',
    '<style>@import url(http://evil.example/z.css)</style>',
    '<link rel=stylesheet href=http://evil.example/w.css>',
    '{{constructor.constructor("alert(1)")()}}',
    '</textarea><script>alert(1)</script>',
    '<math><mi xlink:href="javascript:alert(1)">x</mi></math>',
    '<template><script>alert(1)</script></template>',
    'url(http://evil.example/css)',
    '\u202Egnp.exe\u202C\u200B\u{E0041}\u001b[31m\u0007',
  ]
  const text = payloads.join('\n')
  const trajectory = {
    format: 'rollscope.trajectory/1',
    id: `hostile-${Date.now()}`,
    createdAt: text,
    title: text,
    model: {
      name: text,
      contextLength: 100,
      tokenizer: { name: text, specialIds: [1] },
      tools: [{ name: text, description: text, inputSchema: {} }],
      parser: text,
    },
    vocab: Object.fromEntries(payloads.map((payload, id) => [id, payload])),
    segments: [
      {
        kind: 'prompt',
        ids: payloads.map((_, id) => id),
        messages: [{ role: 'user', content: text }],
        derivation: {
          kind: 'continuation',
          closesTurn: false,
          check: { kind: 'broken', why: text, expected: text, found: text },
        },
      },
      {
        kind: 'response',
        ids: payloads.map((_, id) => id),
        logprobs: payloads.map(() => -1),
        topLogprobs: { k: 1, ids: payloads.map((_, id) => id), logprobs: payloads.map(() => -1) },
        thinks: [],
        toolCalls: [
          {
            kind: 'parsed',
            id: text,
            name: text,
            input: { [text]: text },
            arguments: [{ name: text, span: { start: 0, end: 1 }, text: { start: 0, end: 1 } }],
            raw: text,
            span: { start: 0, end: 2 },
            text: { start: 0, end: 1 },
            result: { status: 'error', text },
          },
          {
            kind: 'malformed',
            id: `${text}2`,
            name: text,
            why: text,
            at: 0,
            raw: text,
            span: { start: 2, end: 3 },
            text: { start: 0, end: 1 },
          },
        ],
        problems: [{ kind: text, message: text }],
      },
    ],
    outcome: { kind: 'failed', code: text, message: text, hint: text, unsent: [{ role: 'user', content: text }] },
    provenance: { kind: 'import', format: text, file: text, lacked: [text] },
  }
  await postImport(request, trajectory, text)
  await open(page, `/t/${trajectory.id}`)
  await idle(page)
  await page.getByRole('grid').focus()
  for (let i = 0; i < 2 * payloads.length; i++) await page.keyboard.press(i === 0 ? 'Home' : 'ArrowRight')
  await page.getByRole('button', { name: 'Open' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.goto(`/?t=${trajectory.id}`)
  await idle(page)
  await page.getByRole('button', { name: 'Restore the question' }).click()
  expect([dialogs, outside, violations]).toEqual([[], [], []])
  expect(await page.locator('img, iframe, svg script, math, [onerror], [onload]').count()).toBe(0)
})

test('the health check is answered while hostile input is rendered and encoded', async () => {
  const blanks = "{{ ' ' * 1900000 }}"
  const messages = [{ role: 'user', content: 'Hi' }]
  const hostile: readonly (readonly [path: string, body: object])[] = [
    ['/api/render', { template: blanks, messages }],
    ['/api/templates/check', { template: blanks, messages, renderer: 'server' }],
    ['/api/templates/doctor', { template: `${blanks}{{ messages }}`, messages }],
    ['/api/rollouts', { chatTemplate: blanks, prompt: 'Hi' }],
    ['/api/rollouts', { chatTemplate: blanks, prompt: 'Hi', tokenizer: 'server' }],
    ['/api/tokenize', { text: ' '.repeat(1_900_000) }],
    ['/sglang/tokenize', { prompt: ' '.repeat(1_900_000) }],
    ['/sglang/v1/completions', { prompt: ' '.repeat(1_900_000), max_tokens: 1 }],
    ['/sglang/v1/chat/completions', { messages: [{ role: 'user', content: ' '.repeat(1_900_000) }] }],
  ]
  for (const [path, body] of hostile) {
    const leaving = new AbortController()
    let isAnswered = false
    const answer = fetch(APPLICATION_URL + path, {
      method: 'POST',
      headers: CHANGING,
      body: JSON.stringify(body),
      signal: leaving.signal,
    }).then(
      () => {
        isAnswered = true
      },
      () => {},
    )
    let health = 0
    while (!isAnswered && health < 20) {
      expect((await fetch(`${APPLICATION_URL}/api/health`)).ok).toBe(true)
      health++
    }
    expect([path, health]).toEqual([path, 20])
    leaving.abort()
    await answer
  }
})
