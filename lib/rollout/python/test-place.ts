/** The place of the interpreter for tests: that of the application, with one snapshot for all tests. */
import path from 'node:path'
import type { InterpreterPlace } from './interpreter.ts'
import { findInterpreter } from './python.ts'
import { keepSnapshot } from './snapshot.ts'

const applicationFolder = path.resolve(import.meta.dirname, '..', '..', '..')

/** Options of createPython for tests. */
export const testOptions = { applicationFolder, folder: path.join(applicationFolder, '.cache', 'python') }

/** Returns the place of an interpreter that runs a file of the folder guest. It creates the snapshot if it is missing. */
export async function testPlace(guest = 'main.ts'): Promise<InterpreterPlace> {
  const place = findInterpreter(testOptions)
  await keepSnapshot(place)
  return { ...place, guestFile: path.join(import.meta.dirname, 'guest', guest) }
}
