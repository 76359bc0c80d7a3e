package io.understudy.gateway;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnknownFieldSet;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.vocabulary.KeyRange;
import java.util.Random;

/** Read-only ranges and transactions: all that etcd's API can express, and what it rejects. */
final class RandomReads {

    private static final int UNKNOWN = 9;
    private static final int LEASE_TARGET = 4;
    private static final int LEASE_FIELD = 8;

    private final Random random;
    private final RandomKeys keys;
    private final long compacted;
    private final long current;

    /** Reads of a store with the revisions from {@code compacted} to {@code current}. */
    RandomReads(Random random, RandomKeys keys, long compacted, long current) {
        this.random = random;
        this.keys = keys;
        this.compacted = compacted;
        this.current = current;
    }

    RangeRequest range() {
        RangeRequest.Builder request =
                RangeRequest.newBuilder().setKey(key()).setRangeEnd(end()).setSerializable(random.nextBoolean());
        if (chance(3)) {
            request.setLimit(oneOf(-1, 1, 2, 3, 10, 50, 150, 1_000, Long.MAX_VALUE, Long.MIN_VALUE));
        }
        if (chance(3)) {
            request.setSortTargetValue(random.nextInt(5)).setSortOrderValue(random.nextInt(3));
        }
        if (chance(50)) {
            // An unknown target beside a known order would end etcd's process.
            request.setSortTargetValue(random.nextInt(UNKNOWN)).setSortOrderValue(UNKNOWN);
        }
        if (chance(6)) {
            request.setMinModRevision(bound()).setMaxCreateRevision(bound());
        }
        if (chance(6)) {
            request.setMaxModRevision(bound()).setMinCreateRevision(bound());
        }
        if (chance(3)) {
            request.setRevision(revision());
        }
        return request.setCountOnly(chance(10)).setKeysOnly(chance(6)).build();
    }

    TxnRequest txn() {
        return txn(3);
    }

    private TxnRequest txn(int depth) {
        TxnRequest.Builder request = TxnRequest.newBuilder();
        for (int i = width(); i > 0; i--) {
            request.addCompare(compare());
        }
        for (int i = width(); i > 0; i--) {
            request.addSuccess(operation(depth));
        }
        for (int i = width(); i > 0; i--) {
            request.addFailure(operation(depth));
        }
        return request.build();
    }

    /** Limited, as a path may have 128 in all. */
    private int width() {
        return chance(150) ? 60 + random.nextInt(70) : random.nextInt(3);
    }

    private RequestOp operation(int depth) {
        RequestOp.Builder operation = RequestOp.newBuilder();
        if (depth > 0 && chance(8)) {
            operation.setRequestTxn(txn(depth - 1));
        } else if (!chance(100)) {
            RangeRequest range = range();
            // Most transactions should get past their checks.
            operation.setRequestRange(
                    chance(4) ? range : range.toBuilder().clearRevision().build());
        }
        return operation.build();
    }

    private Compare compare() {
        Compare.Builder compare = Compare.newBuilder()
                .setKey(key())
                .setTargetValue(chance(30) ? UNKNOWN : random.nextInt(LEASE_TARGET + 1))
                .setResultValue(chance(30) ? UNKNOWN : random.nextInt(4));
        if (chance(4)) {
            compare.setRangeEnd(end());
        }
        // Sometimes of another kind than the target.
        switch (chance(10) ? random.nextInt(6) : compare.getTargetValue()) {
            case 0 -> compare.setVersion(random.nextInt(4));
            case 1 -> compare.setCreateRevision(chance(3) ? 0 : bound());
            case 2 -> compare.setModRevision(chance(3) ? 0 : bound());
            case 3 -> compare.setValue(ByteString.copyFromUtf8(Integer.toString(random.nextInt(10))));
            case LEASE_TARGET ->
                compare.setUnknownFields(UnknownFieldSet.newBuilder()
                        .addField(
                                LEASE_FIELD,
                                UnknownFieldSet.Field.newBuilder()
                                        .addVarint(random.nextInt(4))
                                        .build())
                        .build());
            default -> {}
        }
        return compare.build();
    }

    private ByteString key() {
        return chance(100) ? ByteString.EMPTY : keys.any();
    }

    private ByteString end() {
        return switch (random.nextInt(8)) {
            case 0, 1 -> ByteString.EMPTY;
            case 2 -> GatewayFixture.ZERO;
            case 3 -> KeyRange.prefix(keys.any()).etcdRangeEnd();
            case 4 -> keys.any().concat(GatewayFixture.ZERO);
            default -> keys.any();
        };
    }

    private long revision() {
        return switch (random.nextInt(8)) {
            case 0 -> oneOf(compacted - 1, compacted, compacted + 1);
            case 1 -> oneOf(current - 1, current, current + 1);
            case 2 -> oneOf(1, -1, Long.MIN_VALUE, Long.MAX_VALUE);
            default -> compacted + random.nextInt((int) (current - compacted));
        };
    }

    private long bound() {
        return chance(20) ? oneOf(-1, Long.MAX_VALUE, Long.MIN_VALUE) : random.nextInt((int) current + 2);
    }

    private boolean chance(int oneIn) {
        return random.nextInt(oneIn) == 0;
    }

    private long oneOf(long... options) {
        return options[random.nextInt(options.length)];
    }
}
