package io.understudy.cluster.recover;

import com.google.protobuf.ByteString;

/** CRC-32C that continues from an earlier sum, as etcd's logs need. The JDK's starts at zero only. */
final class Crc32c {

    private static final int POLYNOMIAL = 0x82F63B78;
    private static final int[] TABLE = table();

    private Crc32c() {}

    static int update(int sum, ByteString bytes) {
        int crc = ~sum;
        for (int i = 0; i < bytes.size(); i++) {
            crc = TABLE[(crc ^ bytes.byteAt(i)) & 0xFF] ^ (crc >>> 8);
        }
        return ~crc;
    }

    private static int[] table() {
        int[] table = new int[256];
        for (int i = 0; i < table.length; i++) {
            int crc = i;
            for (int bit = 0; bit < 8; bit++) {
                crc = (crc & 1) == 0 ? crc >>> 1 : (crc >>> 1) ^ POLYNOMIAL;
            }
            table[i] = crc;
        }
        return table;
    }
}
