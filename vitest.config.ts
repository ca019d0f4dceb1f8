import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    coverage: {
      provider: 'v8',
      include: ['lib/{core,formats,parsers,tito}/**/*.ts'],
      exclude: ['**/test-*.ts'],
      reporter: ['text-summary'],
      // The domain: what is not tried there is not known to be right.
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 99 },
    },
    projects: [
      {
        test: {
          name: 'node',
          environment: 'node',
          include: ['lib/**/*.test.ts', 'scripts/**/*.test.ts', 'components/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        plugins: [react()],
        test: {
          name: 'dom',
          environment: 'jsdom',
          include: ['components/**/*.test.tsx', 'lib/**/*.test.tsx'],
          setupFiles: ['./components/test-setup.ts'],
        },
      },
    ],
  },
})
