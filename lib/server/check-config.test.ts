import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Instance } from '#lib/store/files/instance.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { checkConfig } from './check-config.ts'
import { ConfigError, readConfig } from './config.ts'

let folder: string
beforeEach(() => {
  folder = folderOfTest()
})

const started: Instance[] = []
afterEach(() => {
  for (const instance of started.splice(0)) instance.close()
})
const check = (environment: Record<string, string>) => {
  const start = checkConfig(readConfig({ ROLLSCOPE_DATA: path.join(folder, 'data'), ...environment }, folder))
  started.push(start.instance)
  return start
}

test('The start check accepts a usable configuration', () => {
  expect(() => check({ SGLANG_BASE_URL: 'http://127.0.0.1:30000' })).not.toThrow()
})

test.each([
  [{ SGLANG_BASE_URL: '127.0.0.1:30000' }, /^SGLANG_BASE_URL: .*write it like http/],
  [{ SGLANG_BASE_URL: 'http://127.0.0.1:3000' }, /^SGLANG_BASE_URL: .*Rollscope itself/],
  [{ HOST: '192.168.7.7', SGLANG_BASE_URL: 'http://192.168.7.7:3000/api' }, /^SGLANG_BASE_URL: .*Rollscope itself/],
  [{ ROLLSCOPE_OPEN_HOSTS: 'https://data.example' }, /^ROLLSCOPE_OPEN_HOSTS: "https:\/\/data\.example" is not a/],
  [{ ROLLSCOPE_DATA: '/dev/null' }, /is not a folder; set ROLLSCOPE_DATA/],
])('The start check ends the start for %j', (environment, words) => {
  expect(() => check(environment)).toThrow(ConfigError)
  expect(() => check(environment)).toThrow(words)
})

test.each([
  ['rollscope.db', 'no database'.repeat(1000), /rollscope\.db is damaged\. .*restore a backup/],
  ['servers.json', '{"servers": [', /servers\.json is damaged: the file is not JSON, or is truncated\. .*move it away/],
  ['mcp-servers.json', '', /mcp-servers\.json is damaged: the file is empty\. .*move it away/],
])('A damaged %s ends the start with what to do', (name, text, words) => {
  mkdirSync(path.join(folder, 'data'))
  writeFileSync(path.join(folder, 'data', name), text)
  expect(() => check({})).toThrow(ConfigError)
  expect(() => check({})).toThrow(words)
})

test('The start check names another application on the same data folder while that application runs', () => {
  const first = check({})
  expect(first.notice).toBeUndefined()
  const second = check({})
  expect(second.notice).toContain(
    `another Rollscope works on ${path.join(folder, 'data')} (it locks ${first.instance.file};`,
  )
  expect(second.notice).toContain('ROLLSCOPE_DATA=FOLDER')
  first.instance.close()
  second.instance.close()
  expect(check({}).notice).toBeUndefined()
})
