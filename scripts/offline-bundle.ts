/** Makes one script of components/offline: the application puts it into the pages that it saves. */
import path from 'node:path'
import { build } from 'rolldown'

const root = path.resolve(import.meta.dirname, '..')

/** `file`: the script. */
export async function buildOfflineBundle(file: string): Promise<void> {
  await build({
    cwd: root,
    input: path.join(root, 'components', 'offline', 'main.tsx'),
    platform: 'browser',
    logLevel: 'warn',
    // Every file of components may say 'use client': here all of them are.
    onLog: (level, log, report) => log.code !== 'MODULE_LEVEL_DIRECTIVE' && report(level, log),
    transform: { define: { 'process.env.NODE_ENV': '"production"' } },
    output: { file, format: 'iife', minify: true, comments: false },
  })
}
