import { lookup } from 'node:dns/promises'
import { describe, expect, test } from 'vitest'
import { createCheckedLookup, refusedAddress, refusedMcpUrl, serverAddress } from './address.ts'
import { EngineError } from './errors.ts'

const own = { host: '192.168.1.5', port: 3000, builtInPath: '/sglang' }
const refusal = (text: string): string => {
  try {
    return `accepted as ${serverAddress(text, own)}`
  } catch (error) {
    if (error instanceof EngineError && error.code === 'ADDRESS_REFUSED') return error.message
    throw error
  }
}

test.each([
  ['http://127.0.0.1:30000', 'http://127.0.0.1:30000'],
  ['http://127.0.0.1:30000/', 'http://127.0.0.1:30000'],
  ['HTTP://LocalHost:30000//', 'http://localhost:30000'],
  ['http://localhost.:30000', 'http://localhost:30000'],
  ['http://[::1]:30000', 'http://[::1]:30000'],
  ['https://sglang.example/base/path/', 'https://sglang.example/base/path'],
  ['http://10.0.0.7:30000', 'http://10.0.0.7:30000'],
  ['http://10.0.0.7:30000/v10/generate-2', 'http://10.0.0.7:30000/v10/generate-2'],
  ['http://192.168.1.2', 'http://192.168.1.2'],
  ['http://127.0.0.1:3000/sglang', 'http://127.0.0.1:3000/sglang'],
  ['http://127.0.0.1:3001', 'http://127.0.0.1:3001'],
  ['http://192.168.1.5:3001', 'http://192.168.1.5:3001'],
])('server address %s is normalized to %s', (text, address) => {
  expect(serverAddress(text, own)).toBe(address)
})

describe('a server address is refused:', () => {
  test.each([
    ['127.0.0.1:30000', 'not a URL'],
    ['http://h:30000/generate', 'leave out /generate'],
    ['http://h:30000/base/generate/', 'leave out /generate'],
    ['http://h:30000/model_info', 'leave out /model_info'],
    ['http://h:30000/v1', 'leave out /v1'],
    ['http://h:30000/v1/completions', 'leave out /v1/completions'],
    ['http://h:30000/v1/chat/completions', 'leave out /v1/chat/completions'],
    ['localhost:30000', 'not a URL; write it like http://127.0.0.1:30000'],
    ['gpu-box.example:30000/base', 'not a URL'],
    ['', 'not a URL'],
    ['ftp://host', 'begins with ftp:, which is not http'],
    ['file:///etc/passwd', 'begins with file:'],
    ['javascript:alert(1)', 'not a URL'],
    ['http://user:pw@host', 'user name'],
    ['http://user@host', 'user name'],
    ['http://host/#x', 'fragment'],
    ['http://host/#', 'fragment'],
    ['http://host/?x=1', 'query'],
    ['http://host:0', 'port 0'],
    ['http://ho st', 'space'],
    ['http://host\r\nx: y', 'control character'],
    ['http://host\\@evil', 'backslash'],
    ['http://127.0.0.1:3000', 'Rollscope itself'],
    ['http://localhost:3000/', 'Rollscope itself'],
    ['http://[::1]:3000/api', 'Rollscope itself'],
    ['http://[::ffff:127.0.0.1]:3000', 'Rollscope itself'],
    ['http://127.9.9.9:3000/sglang/x', 'Rollscope itself'],
    ['http://2130706433:3000', 'Rollscope itself'],
    ['http://a.localhost:3000', 'Rollscope itself'],
  ])('%s', (text, why) => {
    expect(refusal(text)).toContain(why)
  })

  test.each([
    'http://169.254.169.254',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://①⑥⑨.②⑤④.①⑥⑨.②⑤④',
    'http://169。254。169。254',
    'http://169.254.169.254.',
    'http://0',
    'http://0.0.0.0',
    'http://0x0',
    'http://000.000.000.000',
    'http://0.1.2.3',
    'http://[::]',
    'http://[0:0:0:0:0:0:0:0]',
    'http://[fe80::1]',
    'http://[febf::1]',
    'http://[ff02::1]',
    'http://224.0.0.1',
    'http://239.255.255.250',
    'http://255.255.255.255',
    'http://[fd00:ec2::254]',
    'http://100.100.100.200',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[::ffff:0.0.0.0]',
    'http://[::a9fe:a9fe]',
    'http://[64:ff9b::a9fe:a9fe]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[2002:a9fe:a9fe::]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[::ffff:100.100.100.200]',
    'http://[64:ff9b::e000:1]',
  ])('%s', (text) => {
    const why = 'link-local, metadata, unspecified or multicast'
    expect(refusal(text)).toContain(why)
    expect(refusedMcpUrl(`${text}/mcp?key=x`, own)).toContain(why)
  })
})

test('the client does not connect to a name that resolves to a refused address', async () => {
  const checkedLookup = createCheckedLookup(refusedAddress)
  const answer = await new Promise((resolve) =>
    checkedLookup('localhost', { all: false }, (error, address) => resolve(error ?? address)),
  )
  const { address } = await lookup('localhost')
  expect(answer).toBe(address)
  expect(refusedAddress('127.0.0.1')).toBeUndefined()
  expect(refusedAddress('::1')).toBeUndefined()
  const refused = await new Promise((resolve) => checkedLookup('0', { all: true }, (error) => resolve(error)))
  expect(refused).toMatchObject({ code: 'ADDRESS_REFUSED' })
})

test('an MCP server URL may have any path and query, also on this machine at another port', () => {
  for (const text of ['http://127.0.0.1:8000/mcp?key=x', 'https://mcp.example/v1', 'http://localhost:3001/generate'])
    expect([text, refusedMcpUrl(text, own)]).toEqual([text, undefined])
})

test.each([
  'http://127.0.0.1:3000/mcp',
  'http://localhost.:3000/sglang',
  'http://[::ffff:127.0.0.1]:3000/',
  'http://192.168.1.5:3000/mcp',
])('an MCP server URL that points at the application itself is refused: %s', (text) => {
  expect(refusedMcpUrl(text, own)).toBe('it is the address of Rollscope itself')
})

test.each([
  ['nonsense', 'not a URL; write it like http://127.0.0.1:8000/mcp'],
  ['file:///etc/passwd', 'is not http'],
  ['http://user:pw@host/mcp', 'user name'],
  ['http://host/mcp#', 'fragment'],
  ['http://host:0/mcp', 'port 0'],
  ['http://host\r\nx: y', 'control character'],
])('an MCP server URL is refused: %j', (text, why) => {
  expect(refusedMcpUrl(text, own)).toContain(why)
})
