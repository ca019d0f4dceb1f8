/**
 * Characters that Python's tokenizers (0.23.3) know from an older Unicode than this engine: found by encoding every code
 * point, alone, within words and with an accent, with the tokenizers of Qwen3, Llama 3.2 and DeepSeek V3 (Node 24, Unicode
 * 17), which peers/retokenized.test.ts does again. Hexadecimal; most were assigned in Unicode 17, the others are marks that
 * older tables put in another order.
 */
const RANGES = `
  7fd 899-89b 8cf-8d3 c3c d3b-d3c eba 1715 1abf-1ac0 1ac3-1ac4 1aca 1acf-1add 1ae0-1aeb 1df6-1dfa 20c1 2b96
  a7ce-a7cf a7d2 a7d4 a7f1 a82c fbc3-fbd2 fd90-fd91 fdc8-fdce 10940-10959 10ec5-10ec7 10ed0-10ed8 10efa-10efb
  10efd-10eff 10f46-10f47 10f4b 10f4d-10f50 10f83 10f85 11070 1133b 113ce-113d0 11839-1183a 1193d-1193e 11943
  119e0 11a34 11a47 11a99 11b60-11b67 11d42 11d44-11d45 11d97 11db0-11ddb 11de0-11de9 11f41-11f42 1612f
  16ea0-16eb8 16ebb-16ed3 16ff0-16ff6 187f8-187ff 18d09-18d1e 18d80-18df2 1ccfa-1ccfc 1ceba-1ced0 1cee0-1cef0
  1e4ec-1e4ee 1e5ef 1e6c0-1e6de 1e6e0-1e6f5 1e6fe-1e6ff 1f6d8 1f777-1f77a 1f8d0-1f8d8 1fa54-1fa57 1fa8a 1fa8e
  1fac8 1facd 1faea 1faef 1fbfa 2b73a-2b73f 2cea2-2cead 323b0-33479
`

/** Finds each of them. */
export const recentCharacters = new RegExp(
  `[${RANGES.trim()
    .split(/\s+/)
    .map((range) => range.replace(/\w+/g, '\\u{$&}'))
    .join('')}]`,
  'gu',
)
