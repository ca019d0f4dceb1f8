import os from 'node:os'
import { describe, expect, test, vi } from 'vitest'
import { ConfigError, readConfig } from './config.ts'

const read = (environment: Record<string, string>) => readConfig(environment, '/app')

test('The configuration of an empty environment is loopback with a new token', () => {
  const config = read({})
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    hosts: ['127.0.0.1'],
    sglang: undefined,
    model: undefined,
    tokenizerFolders: [],
  })
  expect(config.token).toMatch(/^[\w-]{32}$/)
  expect(read({}).token).not.toBe(config.token)
})

test('The configuration of a user without a home folder needs a folder for data', () => {
  const home = vi.spyOn(os, 'homedir').mockImplementation(() => {
    throw new Error('uv_os_homedir returned ENOENT')
  })
  expect(() => read({})).toThrow(ConfigError)
  expect(() => read({})).toThrow(/set ROLLSCOPE_DATA/)
  expect(read({ ROLLSCOPE_DATA: '/data' }).dataFolder).toBe('/data')
  expect(read({ XDG_DATA_HOME: '/shared' }).dataFolder).toBe('/shared/rollscope')
  home.mockRestore()
})

test('The configuration reads every variable of the environment', () => {
  expect(
    read({
      HOST: '192.168.1.5',
      PORT: '8080',
      ROLLSCOPE_HOSTS: 'Lab.example, other:80',
      ROLLSCOPE_OPEN_HOSTS: 'data.example, other:80',
      ROLLSCOPE_TOKEN: 'token-0123456789',
      ROLLSCOPE_DATA: '/data',
      ROLLSCOPE_TOKENIZERS: '/a:/b',
      ROLLSCOPE_MODEL: '/models/x',
      ROLLSCOPE_MODEL_DTYPE: 'q4',
      ROLLSCOPE_MODEL_RUNNING: '2',
      ROLLSCOPE_MODEL_WAITING: '0',
      ROLLSCOPE_MODEL_CACHE_MB: '64',
      SGLANG_BASE_URL: 'http://127.0.0.1:30000',
      SGLANG_API_KEY: 'sk',
    }),
  ).toMatchObject({
    host: '192.168.1.5',
    port: 8080,
    hosts: ['lab.example', 'other:80', '192.168.1.5'],
    openHosts: ['data.example', 'other:80'],
    token: 'token-0123456789',
    dataFolder: '/data',
    tokenizerFolders: ['/a', '/b'],
    model: '/models/x',
    modelDtype: 'q4',
    modelCapacity: { running: 2, waiting: 0, cacheBytes: 64 * 2 ** 20 },
    sglang: { baseUrl: 'http://127.0.0.1:30000', apiKey: 'sk' },
  })
  expect(read({ ROLLSCOPE_MODEL: 'onnx-community/Qwen3-0.6B-ONNX' }).model).toBe('onnx-community/Qwen3-0.6B-ONNX')
  expect(read({ HOST: '[::1]' })).toMatchObject({ host: '::1', hosts: ['[::1]'] })
})

describe('The configuration refuses, with what to do instead,', () => {
  test.each<[Record<string, string>, string]>([
    [{ HOST: '0.0.0.0' }, 'HOST=127.0.0.1'],
    [{ HOST: '::' }, 'SSH tunnel'],
    ...['[::]', '0', '0x0', '00.0.0.0', '::ffff:0.0.0.0', '::0', '0:0:0:0:0:0:0:0', '*', ' ', ''].map(
      (HOST): [Record<string, string>, string] => [{ HOST }, 'would listen on every address'],
    ),
    [{ PORT: '0' }, 'from 1 to 65535'],
    [{ PORT: 'http' }, 'from 1 to 65535'],
    [{ ROLLSCOPE_MODEL_DTYPE: 'q5' }, 'must be one of fp32, q8'],
    [{ ROLLSCOPE_MODEL_RUNNING: '0' }, 'at least 1'],
    [{ ROLLSCOPE_MODEL_CACHE_MB: '1.5' }, 'at least 0'],
    [{ ROLLSCOPE_TOKEN: 'short' }, 'at least 16'],
    [{ ROLLSCOPE_TOKEN: 'with space 0123456789' }, 'letter'],
    [{ HF_TOKEN: 'hf_a\nhf_b' }, 'HF_TOKEN has a blank, a line break'],
    [{ SGLANG_BASE_URL: 'http://127.0.0.1:30000', SGLANG_API_KEY: 'kéy' }, 'SGLANG_API_KEY has'],
  ])('the environment %j', (environment, words) => {
    expect(() => read(environment)).toThrow(ConfigError)
    expect(() => read(environment)).toThrow(words)
  })
})
