import { openDatabase } from '../../db/database.ts';
import { instanceSecret } from '../../db/instance-secret.ts';
import { startDeliveryWorker } from '../../events/webhooks/delivery-worker.ts';
import { createGuard } from '../../net/addresses.ts';
import { createOutbound } from '../../net/request.ts';

/** A process that only delivers webhooks, for the test that kills it. */
const [url = '', publicUrl = ''] = process.argv.slice(2);

const db = openDatabase({ url, poolSize: 4 });
const outbound = createOutbound({ guard: createGuard(['127.0.0.1']) });
startDeliveryWorker({ db, secret: await instanceSecret(db, 'signing'), outbound, publicUrl: () => publicUrl, log: { info: () => {}, error: () => {} } });
process.stdout.write('started\n');
