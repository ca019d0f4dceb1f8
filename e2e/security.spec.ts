/** The threat model's rows that hold from the start, each tried from outside against the built application. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { type APIRequestContext, expect, test } from '@playwright/test'
import { AUTHORIZED, ask, BASE, CHANGING, greedy, HUB_PORT, idle, open, PORT, shownKey, TOKEN } from './application.ts'
import { freePort } from './free-port.ts'
import { raw, request as rawRequest } from './raw-http.ts'

const HOST = `host: 127.0.0.1:${PORT}`
const BEARER = `authorization: Bearer ${TOKEN}`

/** Every route of the build, its parameters filled in. */
const routes = Object.keys(
  JSON.parse(readFileSync('.next/server/app-paths-manifest.json', 'utf8')) as Record<string, string>,
)
const apiRoutes = routes
  .filter((route) => route.startsWith('/api/'))
  .map((route) =>
    route
      .replace(/\/route$/, '')
      .replace(/\[\[\.\.\.\w+\]\]/, 'some/where')
      .replace(/\[\w+\]/g, 'x'),
  )
const guarded = apiRoutes.filter((route) => route !== '/api/health')
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

test('there are routes to try', () => {
  expect(guarded.length).toBeGreaterThan(12)
})

const servers: Server[] = []
test.afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server that counts who calls it, and keeps what they sent. */
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

test.describe('H1: only known hosts are answered', () => {
  for (const target of [
    '/',
    '/t/x',
    '/icon.svg',
    '/api/health',
    '/api/servers',
    '/sglang/model_info',
    '/model_info',
    '/nowhere',
  ])
    for (const [what, lines] of [
      ['a foreign host', ['host: evil.example']],
      ['a host that begins like ours', [`host: 127.0.0.1.evil.example:${PORT}`]],
      ['localhost with a dot', [`host: localhost.:${PORT}`]],
      ['two hosts', [HOST, 'host: evil.example']],
      ['two equal hosts', [HOST, HOST]],
      ['an odd host', ['host: a b@c']],
      ['a user in the host', [`host: x@127.0.0.1:${PORT}`]],
      ['an empty host', ['host:']],
    ] as const)
      test(`${target}: ${what}`, async () => {
        const answer = await raw(rawRequest('GET', target, [...lines, BEARER]))
        expect([400, 403]).toContain(answer.status)
        expect(answer.body).not.toContain('<html')
      })

  test('no host at all', async () => {
    expect((await raw(`GET /api/servers HTTP/1.0\r\n${BEARER}\r\n\r\n`)).status).toBe(403)
    expect((await raw(`GET / HTTP/1.1\r\nconnection: close\r\n\r\n`)).status).toBe(400)
  })

  test('loopback names at any port are known: tunnels map ports', async () => {
    for (const host of ['127.0.0.1:1', 'localhost', 'LOCALHOST:8888', '[::1]:3000'])
      expect((await raw(rawRequest('GET', '/api/servers', [`host: ${host}`, BEARER]))).status).toBe(200)
  })

  test('an absolute target is for proxies', async () => {
    for (const target of [
      'http://evil.example/api/servers',
      `http://127.0.0.1:${PORT}/api/servers`,
      '//evil.example/',
      '/\\evil.example/',
    ])
      expect((await raw(rawRequest('GET', target, [HOST, BEARER]))).status).toBe(400)
  })
})

test('H2: forwarded headers change nothing', async () => {
  const plain = await raw(rawRequest('GET', '/api/servers', [HOST, BEARER]))
  for (const line of [
    'x-forwarded-host: evil.example',
    'x-forwarded-proto: https',
    'forwarded: host=evil.example;proto=https',
    'x-forwarded-for: 1.2.3.4',
    'x-forwarded-port: 1',
  ])
    expect((await raw(rawRequest('GET', '/api/servers', [HOST, BEARER, line]))).body).toBe(plain.body)
  expect(
    (await raw(rawRequest('GET', '/api/servers', ['host: evil.example', `x-forwarded-${HOST}`, BEARER]))).status,
  ).toBe(403)
})

for (const route of [...guarded, '/sglang/model_info', '/model_info'])
  test(`H3, H4: ${route} refuses pages of other origins, whatever they ask`, async () => {
    for (const method of METHODS)
      for (const line of [
        'origin: http://evil.example',
        'origin: null',
        `origin: https://127.0.0.1:${PORT}`,
        `origin: http://127.0.0.1:${PORT + 1}`,
        `origin: http://localhost:${PORT}`,
        `origin: http://127.0.0.1:${PORT}, http://evil.example`,
        'sec-fetch-site: cross-site',
        'sec-fetch-site: same-site',
        'sec-fetch-site: odd',
      ])
        expect([
          method,
          line,
          (
            await raw(
              rawRequest(method, route, [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/json', line], '{}'),
            )
          ).status,
        ]).toEqual([method, line, 403])
    const two = await raw(
      rawRequest('GET', route, [HOST, BEARER, `origin: http://127.0.0.1:${PORT}`, 'origin: http://evil.example']),
    )
    expect(two.status).toBe(400)
  })

test('a method that a path does not have is refused with those that it has', async ({ request }) => {
  const response = await request.fetch('/api/trajectories/x', { method: 'PUT', headers: CHANGING, data: {} })
  expect([response.status(), response.headers().allow]).toEqual([405, 'GET, PATCH, DELETE'])
  expect(await response.json()).toMatchObject({ code: 'METHOD', hint: 'Methods: GET, PATCH, DELETE.' })
  const none = await request.get('/api', { headers: AUTHORIZED })
  expect([none.status(), (await none.json()).code]).toEqual([404, 'NO_ROUTE'])
})

for (const route of guarded)
  test(`H5, H7: ${route} wants the token, for every method`, async () => {
    for (const method of METHODS)
      for (const lines of [
        [],
        ['authorization: Bearer'],
        ['authorization: Bearer wrong-token-0123456789'],
        [`authorization: ${TOKEN}`],
        [`authorization: Basic ${btoa(`x:${TOKEN}`)}`],
        [`cookie: token=${TOKEN}; rollscope.token=${TOKEN}`],
        [`x-api-key: ${TOKEN}`],
      ]) {
        const { status, body } = await raw(rawRequest(method, route, [HOST, ...lines]))
        expect([method, lines, status]).toEqual([method, lines, 401])
        expect(JSON.parse(body)).toMatchObject({ code: 'TOKEN_REQUIRED', hint: expect.any(String) })
      }
    expect((await raw(rawRequest('GET', `${route}?token=${TOKEN}`, [HOST]))).status).not.toBe(200)
  })

test('H5: the token is nowhere in the page’s address, and no cookie is set', async ({ page, context }) => {
  const referers: string[] = []
  page.on('request', (sent) => {
    const referer = sent.headers().referer
    if (referer) referers.push(referer)
  })
  await open(page)
  await greedy(page)
  await ask(page, 'What is 2 + 3?')
  expect(page.url()).not.toContain(TOKEN)
  expect(await page.evaluate(() => history.length)).toBeLessThan(5)
  expect(await context.cookies()).toEqual([])
  expect(referers.join(' ')).not.toContain(TOKEN)
  expect(await page.evaluate(() => Object.values(localStorage).join(' '))).toContain(TOKEN)
})

test('H6: no trick of the framework gets past the handler', async () => {
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

test('H9: nobody is allowed in by CORS', async () => {
  for (const route of ['/', '/api/health', ...guarded, '/sglang/generate', '/generate']) {
    const preflight = await raw(
      rawRequest('OPTIONS', route, [
        HOST,
        'origin: http://evil.example',
        'access-control-request-method: POST',
        'access-control-request-headers: authorization',
      ]),
    )
    expect([route, [403, 405].includes(preflight.status)]).toEqual([route, true])
    for (const answer of [
      preflight,
      await raw(rawRequest('GET', route, [HOST, BEARER])),
      await raw(rawRequest('GET', route, [HOST, BEARER, 'origin: http://evil.example'])),
    ])
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('H10: no answer can be framed, sniffed or embedded', async () => {
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

test.describe('H11: it listens on one address only', () => {
  // lib/server/config.test.ts has every way to write it.
  test('HOST=0.0.0.0 is refused before anything listens', () => {
    const { status, stderr } = spawnSync('node', ['scripts/serve.ts'], {
      env: { ...process.env, HOST: '0.0.0.0', PORT: String(HUB_PORT) },
      encoding: 'utf8',
      timeout: 30_000,
    })
    expect(status).toBe(1)
    expect(stderr).toContain('would listen on every address')
  })

  test('other addresses of this machine get no answer', async () => {
    const others = Object.values(os.networkInterfaces())
      .flat()
      .filter((found) => found && !found.internal && found.family === 'IPv4')
    for (const other of others)
      await expect(
        fetch(`http://${other?.address}:${PORT}/api/health`, { signal: AbortSignal.timeout(2_000) }),
      ).rejects.toThrow()
  })
})

test.describe('C1: what changes state must be asked for as no form can', () => {
  const changing: [string, string][] = [
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
  for (const [method, target] of changing)
    test(`${method} ${target}`, async ({ request }) => {
      const before = await (await request.get('/api/servers', { headers: AUTHORIZED })).text()
      const body = JSON.stringify({ name: 'forged', baseUrl: 'http://127.0.0.1:1' })
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=x',
        'text/plain; application/json',
        '',
      ])
        expect(
          (
            await raw(
              rawRequest(
                method,
                target,
                [HOST, BEARER, 'x-rollscope: 1', ...(type ? [`content-type: ${type}`] : [])],
                body,
              ),
            )
          ).status,
        ).toBe(415)
      for (const line of [[], ['x-rollscope: 0'], ['x-rollscope: true']])
        expect(
          (await raw(rawRequest(method, target, [HOST, BEARER, 'content-type: application/json', ...line], body)))
            .status,
        ).toBe(403)
      expect(await (await request.get('/api/servers', { headers: AUTHORIZED })).text()).toBe(before)
    })

  // No form can send the header, so a body of any type may come with it.
  for (const target of ['/api/rollouts/x/cancel', '/api/groups/x/cancel'])
    test(`POST ${target}, which takes no body`, async () => {
      for (const type of ['content-type: application/json', 'content-type: text/plain', undefined])
        for (const line of [undefined, 'x-rollscope: 0', 'x-rollscope: true', 'x-rollscope: 1']) {
          const lines = [HOST, BEARER, type, line].filter((header) => header !== undefined)
          const { status } = await raw(rawRequest('POST', target, lines, ''))
          expect([type, line, status]).toEqual([type, line, line === 'x-rollscope: 1' ? 404 : 403])
        }
    })
})

test('C2: no address starts a run or changes a setting', async ({ page, request }) => {
  const called = await canary()
  await saveServer(request, 'watched', { baseUrl: called.baseUrl })
  await open(page)
  const settings = await page.evaluate(() => localStorage.getItem('rollscope.setup'))
  const posts: string[] = []
  page.on('request', (sent) => {
    if (sent.method() !== 'GET') posts.push(sent.url())
  })
  for (const address of [
    '/?q=hello',
    '/?prompt=hello&send=1',
    '/?server=watched&run=1',
    '/#prompt=hello',
    '/?t=x&continue=1',
    `/?baseUrl=${encodeURIComponent(called.baseUrl)}`,
    '/t/x?prompt=hello',
    '/?text=hello&autostart=true',
  ]) {
    await page.goto(address)
    await page.waitForLoadState('networkidle')
  }
  expect(posts).toEqual([])
  expect(called.hits).toEqual([])
  expect(await page.evaluate(() => localStorage.getItem('rollscope.setup'))).toBe(settings)
})

test('C4: bodies and headers have their limits', async () => {
  const large = await raw(
    `${rawRequest('POST', '/api/rollouts', [HOST, BEARER, 'x-rollscope: 1', 'content-type: application/json', 'content-length: 10000000000']).trimEnd()}\r\n\r\n`,
  )
  expect(large.status).toBe(413)
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

test('N1: pages are only read', async () => {
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

test('N2: the content security policy lets nothing in, and nothing needs letting in', async ({ page }) => {
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

  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(window, { violations: seen })
    document.addEventListener('securitypolicyviolation', (event) =>
      seen.push(`${event.violatedDirective} ${event.blockedURI}`),
    )
  })
  const violations = () => page.evaluate(() => (window as unknown as { violations: string[] }).violations)
  await open(page)
  await greedy(page)
  await ask(page, 'What is 12 * 7?')
  await page.getByRole('grid').focus()
  await page.keyboard.press('End')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.keyboard.press('Escape')
  expect(await violations()).toEqual([])
  await page.goto(`/t/${await shownKey(page)}`)
  await idle(page)
  await page.goto('/nowhere')
  expect(await violations()).toEqual([])

  await page.evaluate(() => {
    const script = document.createElement('script')
    script.textContent = 'window.injected = true'
    document.body.append(script)
  })
  expect(await page.evaluate(() => 'injected' in window)).toBe(false)
  expect((await violations()).join(' ')).toContain('script-src')
})

test.describe('U1, U2: what can be no server’s address is refused unseen', () => {
  // OWN: the port that this worker's application listens on. Names of tests are the same in every worker.
  for (const address of [
    'ftp://127.0.0.1',
    'file:///etc/passwd',
    'gopher://127.0.0.1:70',
    'http://user:secret@127.0.0.1:1',
    'http://127.0.0.1:1/#x',
    'http://127.0.0.1:1/?x',
    'http://127.0.0.1:0',
    'http://127.0.0.1:1\r\nx: y',
    'http://127.0.0.1:OWN',
    'http://127.0.0.1:OWN/api',
    'http://localhost:OWN/',
    'http://[::1]:OWN',
    'http://2130706433:OWN',
    'http://169.254.169.254/latest/meta-data',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0251.0376.0251.0376',
    'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④',
    'http://169。254。169。254',
    'http://[::ffff:169.254.169.254]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[2002:a9fe:a9fe::]',
    'http://[fe80::1]',
    'http://[fd00:ec2::254]',
    'http://100.100.100.200',
    'http://0',
    'http://0.0.0.0:80',
    'http://[::]',
    'http://224.0.0.1',
    'http://[ff02::1]',
    'http://255.255.255.255',
  ])
    test(JSON.stringify(address), async ({ request }) => {
      const answer = await saveServer(request, 'refused', { baseUrl: address.replace('OWN', String(PORT)) })
      expect([answer.status(), (await answer.json()).code]).toEqual([400, 'ADDRESS_REFUSED'])
      expect(await (await request.get('/api/servers', { headers: AUTHORIZED })).text()).not.toContain('refused')
    })

  test('the built-in server’s own address is allowed', async ({ request }) => {
    expect((await saveServer(request, 'own', { baseUrl: `${BASE}/sglang` })).status()).toBe(201)
  })
})

for (const status of [301, 302, 303, 307, 308])
  test(`U4: a redirect (${status}) is not followed, and no key goes along`, async ({ request }) => {
    const target = await canary()
    const redirecting = await canary(() => ({ status, headers: { location: `${target.baseUrl}/model_info` } }))
    await saveServer(request, 'redirecting', { baseUrl: redirecting.baseUrl, apiKey: 'sk-canary-of-redirects' })
    const answer = await (await request.get('/api/servers/redirecting/status', { headers: AUTHORIZED })).json()
    expect(answer).toMatchObject({ state: 'failed', code: 'UPSTREAM_REDIRECT' })
    expect([redirecting.hits.length > 0, target.hits]).toEqual([true, []])
  })

test.describe('keys', () => {
  const KEY = 'sk-canary-4f8a1c9d'
  const spellings = [
    KEY,
    Buffer.from(KEY).toString('base64').replace(/=+$/, ''),
    encodeURIComponent(KEY),
    [...KEY].reverse().join(''),
  ]

  test('S1, S2: a key is written and never read: in no answer, page, storage, file or process', async ({
    page,
    request,
  }) => {
    const echoing = await canary((asked) => ({
      status: asked === '/ready' ? 200 : 500,
      body: JSON.stringify({ error: { message: `you sent Bearer ${KEY}` }, api_key: KEY }),
    }))
    const saved = await saveServer(request, 'keyed', { baseUrl: echoing.baseUrl, apiKey: KEY })
    expect(await saved.json()).toEqual({ name: 'keyed', baseUrl: echoing.baseUrl, source: 'saved', hasKey: true })
    const bodies: string[] = []
    page.on('response', async (response) => bodies.push(await response.text().catch(() => '')))
    await open(page)
    await page.getByLabel('SGLang server').selectOption('keyed')
    await expect(page.getByRole('status').filter({ hasText: 'failed' })).toBeVisible()
    await page.getByRole('button', { name: /Send/ }).click()
    await expect(page.getByRole('alert').filter({ hasText: 'failed' }).first()).toBeVisible()
    expect(echoing.hits.some(({ headers }) => headers.authorization === `Bearer ${KEY}`)).toBe(true)
    await page.getByLabel('SGLang server').selectOption('built-in')
    await greedy(page)
    await ask(page, 'What is 2 + 5?')
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
      bodies.push(await (await request.get(target, { headers: AUTHORIZED })).text())
    bodies.push(
      await page.content(),
      await page.evaluate(async () =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, await indexedDB.databases(), await caches.keys()]),
      ),
    )
    for (const spelling of spellings) expect(bodies.join('\n')).not.toContain(spelling)
  })

  test('S3: a key stays with its origin', async ({ request }) => {
    const first = await canary()
    const second = await canary()
    await saveServer(request, 'moving', { baseUrl: first.baseUrl, apiKey: KEY })
    const put = (data: object) =>
      request.put('/api/servers/moving', { headers: CHANGING, data: { name: 'moving', ...data } })
    // Same origin, another path: the key stays.
    expect(await (await put({ baseUrl: `${first.baseUrl}/v2` })).json()).toMatchObject({ hasKey: true })
    for (const moved of [second.baseUrl, first.baseUrl.replace('127.0.0.1', 'localhost')]) {
      expect(await (await put({ baseUrl: moved })).json()).toMatchObject({ hasKey: false })
      await request.get('/api/servers/moving/status', { headers: AUTHORIZED })
    }
    expect(second.hits.length).toBeGreaterThan(0)
    expect(JSON.stringify(second.hits)).not.toContain(KEY)
    // Back at the first origin it has to be given again.
    expect(await (await put({ baseUrl: first.baseUrl })).json()).toMatchObject({ hasKey: false })
  })

  test('S2, S4: on disk only in a file of the user’s own; not in the log, the database or the process list', async () => {
    const data = mkdtempSync(path.join(os.tmpdir(), 'rollscope-keys-'))
    const port = await freePort()
    const child = spawn('node', ['scripts/serve.ts'], {
      env: { ...process.env, PORT: String(port), ROLLSCOPE_DATA: data, ROLLSCOPE_TOKEN: TOKEN },
    })
    let log = ''
    child.stdout.on('data', (chunk) => (log += chunk))
    child.stderr.on('data', (chunk) => (log += chunk))
    try {
      await expect.poll(() => log, { timeout: 30_000 }).toContain('SGLang ')
      const headers = { ...CHANGING }
      const failing = await canary(() => ({ status: 500, body: `"${KEY}"` }))
      await fetch(`http://127.0.0.1:${port}/api/servers`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ name: 'k', baseUrl: failing.baseUrl, apiKey: KEY }),
      })
      await fetch(`http://127.0.0.1:${port}/api/servers/k/status`, { headers })
      await fetch(`http://127.0.0.1:${port}/api/rollouts`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ prompt: 'x', server: 'k' }),
      }).then((answer) => answer.text())
      await fetch(`http://127.0.0.1:${port}/api/rollouts`, {
        method: 'POST',
        headers,
        body: JSON.stringify({ prompt: 'x' }),
      }).then((answer) => answer.text())
      for (const spelling of spellings) {
        expect(log).not.toContain(spelling)
        for (const file of readdirSync(data))
          if (file !== 'servers.json') expect(readFileSync(path.join(data, file)).includes(spelling)).toBe(false)
        if (process.platform === 'linux')
          for (const source of ['cmdline', 'environ'])
            expect(readFileSync(`/proc/${child.pid}/${source}`).includes(spelling)).toBe(false)
      }
      expect(readFileSync(path.join(data, 'servers.json'), 'utf8')).toContain(KEY)
      expect(readdirSync(data).length).toBeGreaterThan(1)
    } finally {
      const closed = new Promise((resolve) => child.once('exit', resolve))
      child.kill('SIGTERM')
      expect(await closed).toBe(0)
    }
  })
})

test('R1, R2: foreign text is text, and asks for nothing', async ({ page, request }) => {
  const outside: string[] = []
  const dialogs: string[] = []
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message())
    dialog.dismiss()
  })
  await page.route('**', (route) => {
    if (new URL(route.request().url()).origin === BASE || route.request().url().startsWith('data:'))
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
  const stored = await request.post(`/api/import?name=${encodeURIComponent(text)}`, {
    headers: { ...CHANGING, 'content-type': 'application/octet-stream' },
    data: JSON.stringify(trajectory),
  })
  expect(stored.status()).toBe(201)
  await open(page, `/t/${trajectory.id}`)
  await idle(page)
  await page.getByRole('grid').focus()
  for (let i = 0; i < 2 * payloads.length; i++) await page.keyboard.press(i === 0 ? 'Home' : 'ArrowRight')
  await page.getByRole('button', { name: 'Open' }).click()
  await expect(page.getByRole('dialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await page.goto(`/?t=${trajectory.id}`)
  await idle(page)
  await page.getByRole('button', { name: 'Take the question back' }).click()
  expect([dialogs, outside]).toEqual([[], []])
  expect(await page.locator('img, iframe, svg script, math, [onerror], [onload]').count()).toBe(0)
})
