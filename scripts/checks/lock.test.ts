import { globSync, readFileSync } from 'node:fs'
// @ts-expect-error: the package has no types.
import { satisfies } from 'semver'
import { expect, test } from 'vitest'
import { completeLock, type Lock, missingPackages, packageName } from './lock.ts'

const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const lock: Lock = read('package-lock.json')
const { allowScripts } = read('package.json')

test('the lock has an entry for every optional package of every platform: npm run lock', () => {
  expect(missingPackages(lock)).toEqual([])
  expect(
    Object.values(lock.packages).flatMap(({ optionalDependencies }) => Object.keys(optionalDependencies ?? {})).length,
  ).toBeGreaterThan(30)
})

test('the lock names no registry: the reader’s own is used', () => {
  expect(JSON.stringify(lock)).not.toMatch(/"resolved":"https?:/)
})

test('the lock is complete, has no engines of dependencies and no refused install scripts: npm run lock', () => {
  expect(completeLock(lock, allowScripts)).toEqual(lock)
})

test('every installed package runs on the Node that is installed with it', () => {
  const packages = globSync('node_modules/{*,@*/*}/package.json').map(read)
  const node = read('node_modules/node/package.json').version
  const outdated = packages.filter(({ engines }) => engines?.node !== undefined && !satisfies(node, engines.node))
  expect(packages.length).toBeGreaterThan(200)
  expect(outdated.map(({ name, engines }) => `${name}: ${engines.node}`)).toEqual([])
})

test('SECURITY.md lists every package of the lock that has no integrity hash', () => {
  const unhashed = Object.entries(lock.packages).flatMap(([key, { version, integrity }]) =>
    key === '' || integrity !== undefined ? [] : [`${packageName(key)}@${version}`],
  )
  const text = readFileSync('SECURITY.md', 'utf8')
  expect(unhashed.filter((name) => !text.includes(`\`${name}\``))).toEqual([])
  const listed = text.match(/`(@[\w-]+\/)?[\w-]+@\d[^`]*`/g) ?? []
  expect(listed.map((name) => name.slice(1, -1)).toSorted()).toEqual(unhashed.toSorted())
})

test('the lock check finds and adds a missing entry', () => {
  const seeded: Lock = {
    packages: {
      '': {},
      'node_modules/a': { optionalDependencies: { 'a-darwin-arm64': '^1.2.3' } },
      'node_modules/b/node_modules/c': { optionalDependencies: { d: '1.0.0' } },
      'node_modules/b/node_modules/d': {},
    },
  }
  expect(missingPackages(seeded).map(({ name }) => name)).toEqual(['a-darwin-arm64'])
  expect(completeLock(seeded, {}).packages['node_modules/a-darwin-arm64']).toEqual({
    version: '1.2.3',
    os: ['darwin'],
    cpu: ['arm64'],
    optional: true,
  })
  expect(missingPackages(completeLock(seeded, {}))).toEqual([])
})

test('the lock check removes engines of dependencies and refused install scripts, and nothing else', () => {
  const seeded: Lock = {
    packages: {
      '': { engines: { node: '>=20.9' } },
      'node_modules/a': { version: '1.0.0', integrity: 'sha512-x', engines: { node: '>=22' }, hasInstallScript: true },
      'node_modules/b/node_modules/@c/refused': { version: '2.0.0', hasInstallScript: true },
    },
  }
  expect(completeLock(seeded, { a: true, '@c/refused': false }).packages).toEqual({
    '': { engines: { node: '>=20.9' } },
    'node_modules/a': { version: '1.0.0', integrity: 'sha512-x', hasInstallScript: true },
    'node_modules/b/node_modules/@c/refused': { version: '2.0.0' },
  })
})
