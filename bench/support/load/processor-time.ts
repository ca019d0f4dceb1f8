/** Processor time of another process. Linux only. */
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'

/** Ticks in a second of the processor times in /proc, the same on every Linux with glibc. */
const TICKS = 100

/** Returns the processor time of a process and its threads since its start, in milliseconds. */
export function processorMs({ pid }: Pick<ChildProcess, 'pid'>): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in brackets, may contain spaces. User and system time are the 14th and 15th fields.
  const [, , , , , , , , , , , user = '0', system = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return ((Number(user) + Number(system)) * 1000) / TICKS
}
