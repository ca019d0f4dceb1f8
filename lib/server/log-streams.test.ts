/** Tests a process whose log cannot be written. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { folderOfFile } from '#testing/files/folders.ts'

const folder = folderOfFile()

/** The process logs in every way several times over several turns of the event loop, then writes the outcome to a file. */
const program = `
  const { appendFileSync } = await import('node:fs')
  if (process.argv[2] === 'ignored') {
    const { ignoreWriteErrors } = await import(${JSON.stringify(path.join(import.meta.dirname, 'log-streams.ts'))})
    ignoreWriteErrors([process.stdout, process.stderr])
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve, 5))
  for (let n = 0; n < 5; n++) {
    console.log('a line')
    console.error('an error', new Error('x'))
    process.stdout.write('directly')
    process.stderr.write('directly')
    await turn()
  }
  appendFileSync(process.argv[1], 'reached the end')
`

/** Returns what the process wrote at its end; undefined if it did not reach its end. */
async function outcome(output: number | 'pipe', how: 'ignored' | 'plain'): Promise<string | undefined> {
  const end = path.join(folder, crypto.randomUUID())
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program, end, how], {
    stdio: ['ignore', output, output],
  })
  child.stdout?.destroy()
  child.stderr?.destroy()
  await once(child, 'exit')
  return existsSync(end) ? readFileSync(end, 'utf8') : undefined
}

test.skipIf(process.platform !== 'linux')('A process whose log is on a full disk continues', async () => {
  const full = openSync('/dev/full', 'w')
  expect(await outcome(full, 'plain')).toBe(undefined)
  expect(await outcome(full, 'ignored')).toBe('reached the end')
  closeSync(full)
})

test('A process whose log has lost its reader continues', async () => {
  expect(await outcome('pipe', 'ignored')).toBe('reached the end')
})
