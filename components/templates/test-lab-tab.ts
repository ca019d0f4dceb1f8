/** Props of a tab of the template lab, for tests. */
import { vi } from 'vitest'
import type { LabTabProps } from './lab-tab.ts'

/** Returns the props of a tab with an empty document and handlers that do nothing, except for the given ones. */
export const labTabProps = (change: Partial<LabTabProps>): LabTabProps => ({
  input: { template: '', messages: '[]', tools: '', options: '' },
  tokenizer: 'bytes',
  server: '',
  serverProblem: undefined,
  trajectory: undefined,
  run: vi.fn(),
  cursorLine: undefined,
  revisions: [],
  shown: 1,
  view: {},
  onView: vi.fn(),
  onCheck: vi.fn(),
  onLine: vi.fn(),
  onTemplate: vi.fn(),
  onMessages: vi.fn(),
  ...change,
})
