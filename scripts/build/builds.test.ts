import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createBuildProgress } from './build-progress.ts'
import { type Builds, claimBuild, claimPresentBuild, findBuild, sourceHash } from './builds.ts'
import { tryLock } from './file-lock.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'build-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('the hash of the sources', () => {
  const write = (file: string, text: string): void => {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), text)
  }
  beforeEach(() => {
    write('lib/trajectory/format/codec.ts', 'export {}')
    write('next.config.mjs', 'export default {}')
  })

  test.each([
    'next-env.d.ts',
    'vitest.config.ts',
    'playwright.config.ts',
    'biome.json',
    'harness.mjs',
    'notes.json',
    'try.ts',
    'lib/trajectory/format/codec.test.ts',
    'components/a.test.tsx',
    'lib/x/golden/a.json',
    'e2e/playground/run.spec.ts',
  ])('%s does not change it: the build writes the file or does not read it', (file) => {
    const before = sourceHash(folder)
    write(file, 'anything')
    expect(sourceHash(folder)).toBe(before)
  })

  test.each([
    'lib/trajectory/format/codec.ts',
    'app/page.tsx',
    'public/examples/a.json',
    'next.config.mjs',
    'package-lock.json',
    'postcss.config.mjs',
    'tsconfig.build.json',
    'instrumentation.ts',
    'instrumentation-client.ts',
    'proxy.ts',
    'scripts/build/offline-bundle.ts',
  ])('a change of %s changes it', (file) => {
    const before = sourceHash(folder)
    write(file, 'changed')
    expect(sourceHash(folder)).not.toBe(before)
  })
})

/** Returns options for builds of sources with the hash `sources`; a build is finished when `made` resolves. */
function builds(sources: string, made: Promise<boolean> = Promise.resolve(true)) {
  const makes: string[] = []
  const seen = { waits: 0 }
  const all: Builds = {
    folder,
    sources: () => sources,
    async make(build) {
      makes.push(build)
      mkdirSync(build)
      writeFileSync(path.join(build, 'page.js'), sources)
      return made
    },
    onWait: () => {
      seen.waits++
    },
  }
  return { all, makes, seen }
}
const folders = () => readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
/** Creates a complete build that no instance uses. */
function unusedBuild(name: string): string {
  const build = path.join(folder, name)
  mkdirSync(build)
  writeFileSync(path.join(build, 'rollscope-complete'), '')
  return build
}

test('a second start from the same sources uses the build of the first', async () => {
  const { all, makes } = builds('same')
  const first = await claimBuild(all)
  expect(await claimBuild(all)).toBe(first)
  expect(makes).toEqual([first])
})

test('a start finds the build of its sources without building, and removes those that no instance uses', async () => {
  const { all, makes } = builds('same')
  expect(claimPresentBuild(folder, 'same')).toBeUndefined()
  const build = await claimBuild(all)
  unusedBuild('other-1')
  expect(claimPresentBuild(folder, 'same')).toBe(build)
  expect(folders().map(({ name }) => name)).toEqual([path.basename(build ?? '')])
  expect(makes).toHaveLength(1)
})

test('a start while another one builds reports that it waits, and uses that build', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const first = builds('same', promise)
  const second = builds('same')
  const firstBuild = claimBuild(first.all)
  await expect.poll(() => first.makes).toHaveLength(1)
  const secondBuild = claimBuild(second.all)
  await expect.poll(() => second.seen.waits).toBe(1)
  resolve(true)
  expect(await secondBuild).toBe(await firstBuild)
  expect(second.makes).toEqual([])
})

test('a start that waited for a failed build makes its own', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const first = builds('same', promise)
  const second = builds('same')
  const firstBuild = claimBuild(first.all)
  await expect.poll(() => first.makes).toHaveLength(1)
  const secondBuild = claimBuild(second.all)
  resolve(false)
  expect(await firstBuild).toBeUndefined()
  expect(second.makes).toEqual([await secondBuild])
  expect(folders()).toHaveLength(1)
})

test('changed sources get a build of their own; the build of a running instance stays until the instance ends', async () => {
  const old = unusedBuild('old-1')
  const instance = tryLock(path.join(old, 'rollscope-in-use'), 'shared')
  const build = await claimBuild(builds('new').all)
  expect(build).not.toBe(old)
  expect(existsSync(old)).toBe(true)
  instance?.release()
  expect(await claimBuild(builds('new').all)).toBe(build)
  expect(folders().map(({ name }) => path.join(folder, name))).toEqual([build])
})

test('the builds that nobody uses and the folder of a builder that was killed are removed after the next build', async () => {
  unusedBuild('old-1')
  mkdirSync(path.join(folder, 'same-killed'))
  const { all, makes } = builds('same')
  const build = await claimBuild(all)
  expect(makes).toEqual([build])
  expect(folders().map(({ name }) => path.join(folder, name))).toEqual([build])
})

test('a forced build is made beside the existing one and found instead of it', async () => {
  const { all } = builds('same')
  const first = await claimBuild(all)
  const second = await claimBuild(all, true)
  expect(second).not.toBe(first)
  expect(findBuild(folder, 'same')).toBe(second)
})

test('a builder that is killed leaves no lock', async () => {
  const file = path.join(folder, 'building')
  const builder = spawn(process.execPath, [
    '--input-type=module',
    '--eval',
    `import { tryLock } from ${JSON.stringify(path.resolve('scripts/build/file-lock.ts'))}
    console.log(tryLock(${JSON.stringify(file)}, 'exclusive') !== undefined)
    setInterval(() => {}, 1000)`,
  ])
  expect(String((await once(builder.stdout, 'data'))[0])).toBe('true\n')
  expect(tryLock(file, 'exclusive')).toBeUndefined()
  builder.kill('SIGKILL')
  await once(builder, 'exit')
  const lock = tryLock(file, 'exclusive')
  expect(lock).toBeDefined()
  lock?.release()
})

test('many processes can share the lock of a file, and meanwhile none has it alone', () => {
  const file = path.join(folder, 'lock')
  const shared = [tryLock(file, 'shared'), tryLock(file, 'shared')]
  expect(shared).not.toContain(undefined)
  expect(tryLock(file, 'exclusive')).toBeUndefined()
  for (const lock of shared) lock?.release()
  const alone = tryLock(file, 'exclusive')
  expect(tryLock(file, 'shared')).toBeUndefined()
  alone?.release()
  expect(tryLock(path.join(folder, 'nowhere', 'lock'), 'shared')).toBeUndefined()
})

test('Without the devDependencies a start prints the command that installs them, and nothing else', () => {
  for (const part of ['build', 'build.ts'])
    cpSync(path.resolve(import.meta.dirname, '..', part), path.join(folder, 'scripts', part), { recursive: true })
  const { stdout, stderr, status } = spawnSync(process.execPath, ['scripts/build.ts'], {
    cwd: folder,
    encoding: 'utf8',
  })
  expect([stdout, stderr, status]).toEqual([
    '',
    'The packages that build Rollscope are not installed: npm install --include=dev\n',
    1,
  ])
})

test('A build names each of its steps once, whatever the pieces of the output are, and says how long it takes', () => {
  const output = [
    '▲ Next.js (Turbopack)',
    '  Creating an optimized production build ...',
    '✓ Compiled successfully in 40s',
    '  Collecting page data using 1 worker ...',
    '  Collecting page data using 1 worker ...',
    '  Finalizing page optimization ...',
    '',
  ].join('\n')
  for (const length of [1, 7, output.length]) {
    const printed: string[] = []
    let now = 1_000
    const progress = createBuildProgress(
      (line) => printed.push(line),
      () => now,
    )
    for (let at = 0; at < output.length; at += length) progress.read(output.slice(at, at + length))
    now += 15_400
    progress.remind()
    expect(printed).toEqual([
      '  1 of 3: compiling the pages, the longest step …',
      '  2 of 3: collecting the data of the pages …',
      '  3 of 3: bundling the page that opens without a server …',
      '  still building after 15 s',
    ])
  }
})
