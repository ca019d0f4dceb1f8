/** Python for the application: the tool, its interpreters, and whether it may be used here. */
import { mkdirSync, realpathSync, rmSync } from 'node:fs'
import { findPackageJSON } from 'node:module'
import path from 'node:path'
import { PYTHON_SPEC } from '#lib/tools/python-spec.ts'
import type { ToolSpec } from '#lib/tools/tool-spec.ts'
import type { AgentTool } from '../tools/tool.ts'
import { guardHoles } from './guard-check.ts'
import { InterpreterError, type InterpreterPlace, startInterpreter } from './interpreter.ts'
import { createPool } from './pool.ts'
import { pythonTool } from './python-tool.ts'
import { keepSnapshot, snapshotFileIn } from './snapshot.ts'

/** The Python tool of the application. */
export interface Python {
  readonly spec: ToolSpec
  /** Creates the tool for one run; nothing is started before its first call. */
  open(): AgentTool
  /** Returns why it cannot be used here, as far as known; undefined if nothing prevents it. */
  off(): string | undefined
  /** Checks the guard once, and returns the same as `off`. */
  check(): Promise<string | undefined>
  /** Ends all interpreters. */
  close(): void
}

interface PythonOptions {
  readonly applicationFolder: string
  /** The folder for the snapshot and an empty folder. It is created. */
  readonly folder: string
  /** The program of Node. Omitted: the running one. */
  readonly node?: string
  /** The largest number of runs with an interpreter at a time. */
  readonly mostRuns?: number
}

/** Creates the tool. No process is started yet. */
export function createPython(options: PythonOptions): Python {
  let knownPlace: Promise<InterpreterPlace> | undefined
  const place = (): Promise<InterpreterPlace> => {
    knownPlace ??= preparePlace(options)
    // The next caller repeats the attempt.
    knownPlace.catch(() => {
      knownPlace = undefined
    })
    return knownPlace
  }
  const pool = createPool(async (signal) => startInterpreter(await place(), signal), options.mostRuns)
  let checked: Promise<string | undefined> | undefined
  let why: string | undefined
  const check = async (): Promise<string | undefined> => {
    try {
      const holes = await guardHoles(async () => startInterpreter(await place()))
      why = holes.length > 0 ? `its sandbox is not safe on this machine (${holes.join('; ')})` : undefined
    } catch (error) {
      if (!(error instanceof InterpreterError)) throw error
      why = `its process cannot be started: ${error.message}`
      // The failure may be temporary, so the next caller starts again with a new snapshot.
      await knownPlace?.then(({ snapshotFile }) => rmSync(snapshotFile, { force: true })).catch(() => {})
      knownPlace = undefined
      checked = undefined
    }
    return why
  }
  return {
    spec: PYTHON_SPEC,
    open: () => pythonTool(pool),
    off: () => why,
    check() {
      checked ??= check()
      return checked
    },
    close: pool.close,
  }
}

/** Prepares the place of an interpreter with its snapshot. Rejects with InterpreterError. */
async function preparePlace(options: PythonOptions): Promise<InterpreterPlace> {
  try {
    const place = findInterpreter(options)
    await keepSnapshot(place)
    return place
  } catch (error) {
    throw error instanceof InterpreterError ? error : new InterpreterError((error as Error).message)
  }
}

/** Returns the place of an interpreter. Throws InterpreterError. */
export function findInterpreter({
  applicationFolder,
  folder,
  node = process.execPath,
}: PythonOptions): InterpreterPlace {
  const found = findPackageJSON('pyodide', path.join(applicationFolder, 'package.json'))
  if (found === undefined) throw new InterpreterError('the package pyodide is not installed')
  const emptyFolder = path.join(folder, 'empty')
  mkdirSync(emptyFolder, { recursive: true, mode: 0o700 })
  // The permission model compares real paths.
  const application = realpathSync(applicationFolder)
  const place = {
    node,
    applicationFolder: application,
    pyodideFolder: realpathSync(path.dirname(found)),
    emptyFolder,
    guestFile: path.join(application, 'lib', 'rollout', 'python', 'guest', 'main.ts'),
  }
  return { ...place, snapshotFile: snapshotFileIn(realpathSync(folder), place) }
}
