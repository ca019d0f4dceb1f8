import { expect, test } from 'vitest'
import { fileName, offlineFileName, severalFileName } from './file.ts'

test.each([
  '../../../etc/passwd',
  '..\\..\\windows\\system32',
  '/etc/passwd',
  'C:\\x',
  'a";filename="x.html\r\nX: y',
  'a\u0000b',
  '.',
  '..',
  '\u202egnp.exe',
  'ü/ß',
  'x'.repeat(10_000),
  '',
])('the file of a trajectory with the id %j has a name of letters, digits, hyphens and its own ending', (id) => {
  expect(fileName({ id })).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.json$/)
  expect(fileName({ id }, 'slime')).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.slime\.json$/)
  expect(offlineFileName({ id })).toMatch(/^trajectory-[A-Za-z0-9-]{0,60}\.html$/)
})

test('the file of several trajectories is named by their number and format', () => {
  expect([severalFileName(2, 'rollscope'), severalFileName(3, 'slime')]).toEqual([
    'trajectories-2.jsonl',
    'trajectories-3.slime.jsonl',
  ])
})
