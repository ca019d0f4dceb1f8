/** Finds the Python interpreters that the peers need: SGLang is published for 3.11, strands-sglang for 3.12 and later. */
import { spawnSync } from 'node:child_process'
import path from 'node:path'

/** The Python that a peer needs. */
export interface PythonRequirement {
  /** Accepted versions, the preferred one first. */
  readonly versions: readonly string[]
  /** Environment variable with the path of the interpreter to use. */
  readonly variable: string
}

/** The Python for SGLang. */
export const PYTHON_3_11: PythonRequirement = { versions: ['3.11'], variable: 'PYTHON' }
/** The Python for strands-sglang. */
export const PYTHON_3_12: PythonRequirement = { versions: ['3.12', '3.13'], variable: 'PYTHON312' }

/** Returns the path of an interpreter with an accepted version. Throws an Error that says what to install. */
export function findPython({ versions, variable }: PythonRequirement, environment = process.env): string {
  const named = environment[variable]
  const candidates = named ? [named] : versions.flatMap((version) => candidatesOf(version, environment))
  const found = candidates.find((candidate) => versions.includes(versionOf(candidate, environment) ?? ''))
  if (found !== undefined) return found
  const needed = `Python ${versions.join(' or ')} is required`
  throw new Error(
    named
      ? `${needed}, and ${variable}=${named} is ${versionOf(named, environment) ?? 'no Python that starts'}`
      : `${needed}, and none of ${candidates.join(', ')} is one: install it, or name it with ${variable}=/path/to/python`,
  )
}

/** pyenv puts a command of every version on the PATH, and all but the selected version fail to start. */
function candidatesOf(version: string, environment: NodeJS.ProcessEnv): string[] {
  const prefix = output('pyenv', ['prefix', version], environment)
  return [`python${version}`, ...(prefix === undefined ? [] : [path.join(prefix, 'bin', 'python')])]
}

/** Returns the version of a command, for example 3.12, or undefined if it does not start. */
const versionOf = (python: string, environment: NodeJS.ProcessEnv): string | undefined =>
  output(python, ['-c', 'import sys; print("%d.%d" % sys.version_info[:2])'], environment)

function output(command: string, parameters: readonly string[], environment: NodeJS.ProcessEnv): string | undefined {
  const { status, stdout } = spawnSync(command, parameters, { encoding: 'utf8', env: environment })
  return status === 0 ? stdout.trim() : undefined
}
