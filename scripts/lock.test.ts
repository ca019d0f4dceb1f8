import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { completed, type Lock, missingPackages } from './lock.ts'

const lock: Lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))

test('the lock has an entry for every optional package of every platform: npm run lock', () => {
  expect(missingPackages(lock)).toEqual([])
  expect(
    Object.values(lock.packages).flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {})).length,
  ).toBeGreaterThan(30)
})

test('the lock names no registry: the reader’s own is used', () => {
  expect(JSON.stringify(lock)).not.toMatch(/"resolved":"https?:/)
})

test('a missing entry is seen and made', () => {
  const seeded: Lock = {
    packages: {
      '': {},
      'node_modules/a': { optionalDependencies: { 'a-darwin-arm64': '^1.2.3' } },
      'node_modules/b/node_modules/c': { optionalDependencies: { d: '1.0.0' } },
      'node_modules/b/node_modules/d': {},
    },
  }
  expect(missingPackages(seeded).map(({ name }) => name)).toEqual(['a-darwin-arm64'])
  expect(completed(seeded).packages['node_modules/a-darwin-arm64']).toEqual({
    version: '1.2.3',
    os: ['darwin'],
    cpu: ['arm64'],
    optional: true,
  })
  expect(missingPackages(completed(seeded))).toEqual([])
})
