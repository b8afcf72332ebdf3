export const mode = {
  mode: 'Mode',
  plan: 'Plan',
  build: 'Build',
  planHint: 'Plan mode: reads and plans. Can write nothing but the plan.',
  buildHint: 'Act mode: carries out the approved plan, and asks before anything outside it.',
} as const;
