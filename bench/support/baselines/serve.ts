import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import react from '@vitejs/plugin-react'
import { build, type InlineConfig, preview } from 'vite'

interface Baselines {
  /** Address of the page; its hash selects the view. */
  readonly base: string
  close(): Promise<void>
}

/** Builds the baselines' page for production, and serves it. */
export async function serveBaselines(): Promise<Baselines> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'rollscope-baselines-'))
  const config: InlineConfig = {
    configFile: false,
    root: import.meta.dirname,
    logLevel: 'error',
    plugins: [react()],
    build: { outDir: folder, emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  }
  await build(config)
  const server = await preview({ ...config, preview: { host: '127.0.0.1', port: 0 } })
  const base = server.resolvedUrls?.local[0]
  if (base === undefined) throw new Error('the baselines are served nowhere')
  return {
    base,
    async close() {
      await server.close()
      rmSync(folder, { recursive: true })
    },
  }
}
