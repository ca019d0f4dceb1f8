import { expect, test } from 'vitest'
import { ApiError } from '../api.ts'
import { storedWords } from './opened-words.ts'

test.each([
  ['that waits to be stored', { kind: 'waiting' } as const, undefined, 'Storing them…'],
  ['that is being stored', { kind: 'pending' } as const, undefined, 'Storing them…'],
  [
    'that could not be stored',
    { kind: 'failed', error: new ApiError(507, 'DISK_FULL', 'full') } as const,
    undefined,
    'None of them is stored.',
  ],
  ['of new trajectories', undefined, { all: 3, existing: 0 }, 'All 3 are stored.'],
  [
    'with one known trajectory',
    undefined,
    { all: 3, existing: 1 },
    'All 3 are stored; 1 of them was in the library before.',
  ],
  [
    'with known trajectories',
    undefined,
    { all: 3, existing: 2 },
    'All 3 are stored; 2 of them were in the library before.',
  ],
  ['that was opened before', undefined, { all: 3, existing: 3 }, 'All 3 were in the library before.'],
  ['whose page was loaded again', undefined, undefined, 'All 3 were stored when it was opened.'],
])('The banner of a file %s says how many of its trajectories are stored', (_, storing, stored, words) => {
  expect(storedWords(3, storing, stored)).toBe(words)
})
