/** Reads files with Python, to compare its speed and memory with ours on the same machine. */
import { execFileSync } from 'node:child_process'
import { reportFigure } from './figures.ts'

/** The interpreter: `python3`, unless PYTHON names another. */
export const PYTHON = process.env.PYTHON ?? 'python3'

/** A way to read a file in Python. */
export interface PythonReader {
  /** What reads it. */
  readonly library: string
  /** Reads the file of the first argument. */
  readonly script: string
}

/** Reads JSON lines, one after the other. */
export const jsonLines: PythonReader = {
  library: 'json',
  script: `for line in open(sys.argv[1], 'rb'):
    json.loads(line)`,
}

/** Reads a file that is one JSON value. */
export const jsonFileReader: PythonReader = { library: 'json', script: `json.load(open(sys.argv[1], 'rb'))` }

/** Reads Parquet: rows become values of Python, as lines of JSON do. */
export const parquetRows: PythonReader = {
  library: 'pyarrow',
  script: `import pyarrow.parquet
for batch in pyarrow.parquet.ParquetFile(sys.argv[1]).iter_batches(batch_size=64):
    batch.to_pylist()`,
}

/** Reports how fast Python reads a file and its memory at the peak, and returns the seconds. */
export function reportPython(what: string, file: string, bytes: number, { library, script }: PythonReader): number {
  const program = `import json, resource, sys, time
start = time.perf_counter()
${script}
print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)`
  const [seconds = 0, mb = 0] = execFileSync(PYTHON, ['-c', program, file], { encoding: 'utf8' }).split(' ').map(Number)
  reportFigure(`${what}: Python ${library}, MB/s`, bytes / 1e6 / seconds, '')
  reportFigure(`${what}: Python ${library} at its peak`, mb, 'MB')
  return seconds
}
