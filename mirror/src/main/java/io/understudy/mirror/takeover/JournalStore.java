package io.understudy.mirror.takeover;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.mirror.scope.ReservedKeys;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The journal of a mirror's hand-overs, in the target: only who has read the last entry can write the next. One thread. */
final class JournalStore {

    private final PatientCalls target;
    private final ByteString key;
    private long modRevision;
    private boolean isOfFormatBefore;

    JournalStore(PatientCalls target, String mirror) {
        this.target = target;
        this.key = key(mirror);
    }

    /** Reads it; what is written from now on builds on what was found. */
    @Nullable Journal read() {
        Optional<KeyValue> found = target.get(key);
        modRevision = found.map(KeyValue::getModRevision).orElse(0L);
        Journal journal =
                found.map(kv -> JournalCodec.decode(shownKey(), kv.getValue())).orElse(null);
        isOfFormatBefore =
                journal != null && !found.map(KeyValue::getValue).equals(Optional.of(JournalCodec.encode(journal)));
        return journal;
    }

    /** Writes again what was read in a format in which nobody would find it to be what it is. */
    void renew(Journal read) {
        if (isOfFormatBefore) {
            write(read);
            isOfFormatBefore = false;
        }
    }

    /** Compares the journal of a mirror's with what it is taken to be. */
    static Compare holds(String mirror, Journal journal) {
        return Compare.newBuilder()
                .setKey(key(mirror))
                .setTarget(Compare.CompareTarget.VALUE)
                .setValue(JournalCodec.encode(journal))
                .build();
    }

    /** Whether it still is. */
    static boolean isHeld(Parties parties, Journal journal) {
        return parties.target()
                .get(key(parties.mirror()))
                .filter(found -> found.getValue().equals(JournalCodec.encode(journal)))
                .isPresent();
    }

    /** That it isn't. */
    static TakeOverException writtenMeanwhile(Parties parties) {
        return new TakeOverException("another process is at work on the same hand-over of mirror " + parties.mirror()
                + ", or takes it back. Wait until it has ended, then run this again");
    }

    private static ByteString key(String mirror) {
        return ReservedKeys.of(mirror, "switchover");
    }

    /** @throws TakeOverException another process has written it since */
    void write(Journal journal) {
        ByteString value = JournalCodec.encode(journal);
        TxnResponse answer = target.txn(
                "the journal",
                TxnRequest.newBuilder()
                        .addCompare(Compare.newBuilder()
                                .setKey(key)
                                .setTarget(Compare.CompareTarget.MOD)
                                .setModRevision(modRevision))
                        .addSuccess(RequestOp.newBuilder()
                                .setRequestPut(
                                        PutRequest.newBuilder().setKey(key).setValue(value)))
                        .build());
        if (answer.getSucceeded()) {
            modRevision = answer.getHeader().getRevision();
            return;
        }
        Optional<KeyValue> stored = target.get(key);
        // A write whose answer was lost is found done.
        if (stored.filter(kv -> kv.getValue().equals(value)).isEmpty()) {
            throw new TakeOverException("another process is at work on the same mirror: the journal at " + shownKey()
                    + " was written meanwhile. Wait until it has ended, then run this again");
        }
        modRevision = stored.map(KeyValue::getModRevision).orElse(0L);
    }

    private String shownKey() {
        return "key \"" + TextFormat.escapeBytes(key) + "\" of " + target.shown();
    }
}
