/**
 * Runs mini-swe-agent’s own command on a repository with a failing test, through `rollscope run`, with a model whose replies are scripted. The
 * commands of the agent are real. The session must be one trajectory with exactly the ids that the model read and wrote.
 */
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, expect, inject, test } from 'vitest'
import type { SessionCallRow } from '#lib/api/sessions/session.ts'
import { openTrajectoryStore } from '#lib/store/trajectories.ts'
import { ids, lossMask } from '#lib/trajectory/tokens/tokens.ts'
import { builtInTokenizer, startScriptedSglang } from '../../bench/support/load/scripted-sglang.ts'
import { freePort } from '../../e2e/support/free-port.ts'
import { compiledPython } from './clients.ts'

const python = inject('sessionClients')
const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-repository-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const repository = path.join(folder, 'repository')
const FILES = {
  'pricing.py': 'def total(prices, discount):\n    return sum(prices) * discount\n',
  'test_pricing.py': `import unittest

from pricing import total


class TotalTest(unittest.TestCase):
    def test_discount_is_subtracted(self):
        self.assertEqual(total([60, 40], 0.25), 75)
`,
}
const TASK = 'The test of pricing.py fails. Mend pricing.py.'
const TEST = 'python3 -m unittest -q'
/** The thought and the command of each reply. */
const STEPS = [
  ['I read the code first.', 'cat pricing.py test_pricing.py'],
  ['I reproduce the failure.', TEST],
  ['The discount must be subtracted.', "sed -i 's/ \\* discount/ * (1 - discount)/' pricing.py"],
  ['I run the test again.', TEST],
  ['The task is done.', 'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT'],
] as const

const isRepaired = (): boolean => spawnSync(python, ['-B', '-m', 'unittest', '-q'], { cwd: repository }).status === 0

test('mini-swe-agent mends a repository through rollscope run, and its session is one trajectory without drift', async () => {
  mkdirSync(repository)
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(repository, name), text)
  expect(isRepaired()).toBe(false)

  const { encode, endOfTurn } = await builtInTokenizer()
  const model = await startScriptedSglang((_, __, call) => {
    const [thought, command] = STEPS[call] ?? ['', 'false']
    const reply = `<think>\n${thought}\n</think>\n\n<tool_call>\n${JSON.stringify({ name: 'bash', arguments: { command } })}\n</tool_call>`
    return {
      ids: [...encode(reply), endOfTurn],
      finish: { type: 'stop', matched: endOfTurn },
      tokensPerChunk: 8,
      msPerChunk: 0,
    }
  })
  const data = path.join(folder, 'data')
  const agent = ['-m', 'minisweagent.run.mini', '-m', 'openai/tiny', '-t', TASK, '-y', '--exit-immediately']
  const { stderr } = await promisify(execFile)(
    process.execPath,
    [
      path.resolve(import.meta.dirname, '..', '..', 'bin', 'rollscope.js'),
      ...['run', '--', python, ...agent, '-o', path.join(folder, 'agent.json')],
    ],
    {
      cwd: repository,
      env: {
        ...process.env,
        PORT: String(await freePort()),
        ROLLSCOPE_DATA: data,
        SGLANG_BASE_URL: model.baseUrl,
        ...compiledPython(python),
        // The agent asks for its keys when it is started the first time, and looks up prices on the web.
        MSWEA_CONFIGURED: 'true',
        MSWEA_COST_TRACKING: 'ignore_errors',
        MSWEA_GLOBAL_CONFIG_DIR: path.join(folder, 'agent'),
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
      },
    },
  )
  await model.close()
  expect(isRepaired()).toBe(true)
  expect(stderr).toMatch(/^Session ses_\w+: 5 calls, [\d,]+ tokens, 1 leaf$/m)

  const exchanges = model.exchanges.get(0) ?? []
  expect(exchanges).toHaveLength(STEPS.length)
  const store = openTrajectoryStore(data, { now: () => new Date() })
  try {
    const [listed] = store.sessions(2)
    const rows = store.sessionFacts(listed?.session.id ?? '').map((text): SessionCallRow => JSON.parse(text))
    expect(rows.map(({ status, attached, drift }) => [status, attached?.kind, drift])).toEqual(
      STEPS.map((_, index) => [200, index === 0 ? 'new-root' : 'continued', null]),
    )
    const keys = new Set(rows.flatMap(({ nodes }) => nodes.map(({ trajectory }) => trajectory)))
    expect(keys.size).toBe(1)
    const trajectory = store.get([...keys][0] ?? '')
    if (!trajectory) return expect.fail('the trajectory is not in the library')

    const [path, mask]: [number[], number[]] = [[], []]
    for (const { read, wrote } of exchanges) {
      expect(read.slice(0, path.length)).toEqual(path)
      mask.push(...read.slice(path.length).map(() => 0), ...wrote.map(() => 1))
      path.push(...read.slice(path.length), ...wrote)
    }
    expect(ids(trajectory)).toEqual(path)
    expect(lossMask(trajectory)).toEqual(mask)
    const results = trajectory.segments.flatMap((segment) =>
      segment.kind === 'response' ? segment.toolCalls.map(({ result }) => result?.text ?? null) : [],
    )
    // The agent sends no result of the command that ends it.
    expect(results).toEqual([
      expect.stringContaining('def total(prices, discount)'),
      expect.stringMatching(/"returncode": 1,\s+"output": ".*FAILED/),
      expect.stringContaining('"returncode": 0'),
      expect.stringMatching(/"returncode": 0,\s+"output": ".*OK/),
      null,
    ])
  } finally {
    store.close()
  }
})
