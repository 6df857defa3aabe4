const VERDICTS = {
  verified: ['Verified', 'All checks passed, and the package is signed with keys that you trust.'],
  consistent: [
    'Consistent, but not proven',
    'The package is consistent, but anyone could have made it, or part of it is not proven. Add the trusted keys and certificates that the layers below mention.',
  ],
  failed: [
    'Failed',
    'Do not rely on this package. Download it again from its original source and check that you use the right keys. If it still fails, contact its publisher.',
  ],
};
const SUPERSEDED = ['Verified, but superseded', 'The package is genuine, but it no longer describes how things are. Ask its publisher for the current one.'];
const RESULTS = { pass: 'pass', fail: 'FAIL', not_present: 'absent', not_checked: 'not proven' };

/** Everything from the package is inserted as text, never as markup, so that a package cannot run scripts. */
export function start(verifier) {
  const [packageInput, keysInput, witnessInput, statusInput] = ['package', 'keys', 'witnesses', 'status'].map((id) => document.getElementById(id));
  const [drop, result] = ['drop', 'result'].map((id) => document.getElementById(id));
  let chosen = null;
  let run = 0;

  packageInput.addEventListener('change', () => choose(packageInput.files[0] ?? null));
  for (const input of [keysInput, witnessInput, statusInput]) input.addEventListener('change', () => verify());
  for (const type of ['dragenter', 'dragover']) {
    drop.addEventListener(type, (event) => {
      event.preventDefault();
      drop.classList.add('over');
    });
  }
  drop.addEventListener('dragleave', () => drop.classList.remove('over'));
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    drop.classList.remove('over');
    return choose(event.dataTransfer.files[0] ?? null);
  });

  function choose(file) {
    chosen = file;
    return verify();
  }

  async function verify() {
    if (chosen === null) return;
    const thisRun = ++run;
    result.setAttribute('aria-busy', 'true');
    result.replaceChildren(element('p', `Checking ${chosen.name} …`));
    const content = await check(chosen).catch((error) => [element('p', String(error.message ?? error), 'failed')]);
    if (thisRun !== run) return;
    result.replaceChildren(...content);
    result.setAttribute('aria-busy', 'false');
  }

  async function check(file) {
    const trust = verifier.emptyTrust();
    for (const keyFile of keysInput.files) {
      const keys = verifier.keyFilesIn(keyFile.name, await keyFile.text());
      if (keys.length === 0) throw new Error(`${keyFile.name} contains no key, certificate or checkpoint.`);
      verifier.addKeys(trust, keys);
    }
    trust.witnessKeys = await Promise.all([...witnessInput.files].map((keyFile) => keyFile.text()));
    const [statement] = statusInput.files;
    if (statement !== undefined) trust.status = await statement.text();
    await verifier.requireReadable(trust, verifier.browserPlatform().subtle);
    const report = await verifier.verifyPackage(verifier.blobSource(file), trust, verifier.browserPlatform());
    if (report.status?.problem) throw new Error(`${statement.name} cannot be used as a status statement: ${report.status.problem}.`);
    return show(report, verifier);
  }
}

function show(report, { CODES: codes, TAKEN_ON_TRUST: trusted }) {
  const isSuperseded = report.verdict === 'verified' && report.status?.statement?.status === 'superseded';
  const [title, text] = isSuperseded ? SUPERSEDED : VERDICTS[report.verdict];
  return [
    element('h2', title, 'verdict', isSuperseded ? 'consistent' : report.verdict),
    ...(report.owner === null ? [] : [element('p', ownerText(report.owner))]),
    element('p', text),
    ...(report.failures.length === 0
      ? []
      : [
          table(
            'Failures',
            report.failures.map((failure) => failureRow(failure, codes)),
          ),
        ]),
    ...(report.package === null ? [] : [table('Package', facts(report.package))]),
    table(
      'Layers',
      report.layers.map(({ name, result, detail }) => [name.replace('_', ' '), element('span', RESULTS[result], result), detail]),
    ),
    ...(report.notes.length === 0 ? [] : [element('h3', 'Notes'), list(report.notes)]),
    element('h3', 'Taken on trust'),
    list(report.taken_on_trust.map((code) => trusted[code])),
  ];
}

function ownerText({ organization, origin }) {
  return `Belongs to ${organization.name} (organization ${organization.id}), log ${origin}. Check that this is the organization you expect.`;
}

function facts(summary) {
  const { log, keys } = summary;
  const rows = [
    ['Conclusion', [summary.conclusion, ...summary.reasons].join(' · ')],
    ['Completeness', [`grade ${summary.grade}`, ...summary.gaps.map(({ weight, what }) => `${weight}: ${what}`)].join(' · ')],
    ['Work item', `${summary.work_item.title} (${summary.work_item.id})`],
    ['Package', `${summary.id}, number ${summary.sequence}, generated ${summary.generated_at}`],
    ['Replaces', summary.supersedes === null ? '' : `number ${summary.supersedes.sequence} (${summary.supersedes.package_id})`],
    ['Stamped', summary.timestamps.map(({ time, authority, trusted }) => `${time} by ${authority}${trusted ? '' : ' (not trusted)'}`).join(' · ')],
    ['Log', log === null ? '' : `${log.origin}, index ${log.index} of ${log.size} entries, root ${log.root}`],
    ['Keys', [keys.package, keys.log, keys.note].filter((key) => key !== null).join(' · ')],
  ];
  return rows.filter(([, value]) => value !== '');
}

function failureRow({ code, file, detail, expected, actual }, codes) {
  const compared = [expected === undefined ? '' : `Expected ${expected}.`, actual === undefined ? '' : `Found ${actual}.`];
  return [element('code', code), file, [codes[code].meaning, detail, ...compared].filter((part) => part !== '').join(' ')];
}

function table(caption, rows) {
  const body = document.createElement('tbody');
  for (const [head, ...cells] of rows) {
    const row = document.createElement('tr');
    const header = document.createElement('th');
    header.scope = 'row';
    header.append(head);
    row.append(header, ...cells.map((cell) => wrapped('td', cell)));
    body.append(row);
  }
  const result = document.createElement('table');
  result.append(element('caption', caption), body);
  return result;
}

function list(items) {
  const result = document.createElement('ul');
  result.append(...items.map((item) => element('li', item)));
  return result;
}

function wrapped(name, content) {
  const result = document.createElement(name);
  result.append(content);
  return result;
}

function element(name, text, ...classes) {
  const result = document.createElement(name);
  result.textContent = text;
  result.classList.add(...classes);
  return result;
}
