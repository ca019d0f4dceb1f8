/** Where the tests find the interpreter: as the application does, with one snapshot for all of them. */
import path from 'node:path'
import type { InterpreterPlace } from './interpreter.ts'
import { placeOf } from './python.ts'
import { keepSnapshot } from './snapshot.ts'

const applicationFolder = path.resolve(import.meta.dirname, '..', '..', '..')

export const testOptions = { applicationFolder, folder: path.join(applicationFolder, '.cache', 'python') }

export async function testPlace(guest = 'main.ts'): Promise<InterpreterPlace> {
  const place = placeOf(testOptions)
  await keepSnapshot(place)
  return { ...place, guestFile: path.join(import.meta.dirname, 'guest', guest) }
}
