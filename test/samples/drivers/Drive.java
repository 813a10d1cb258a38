import java.util.Arrays;
import java.util.Scanner;

/** Uses the program that Learn shows: drive.mjs has the commands. */
public final class Drive {
  /** The clock that the program reads here; null: that of the machine. */
  private static Long nowMs;

  private static int looks;

  static long clock() {
    if (nowMs == null) return System.currentTimeMillis();
    if (looks++ > 0) nowMs++;
    return nowMs;
  }

  static void printLives(long count, long each) {
    for (long life = 0; life < count; life++) {
      SnowflakeId.Generator ids = new SnowflakeId.Generator(0, 1);
      long first = ids.next();
      long last = first;
      for (long made = 1; made < each; made++) {
        long id = ids.next();
        if (id <= last) throw new IllegalStateException(id + " came after " + last);
        last = id;
      }
      System.out.println(first + " " + last);
    }
  }

  static String outcomeOf(String history) {
    nowMs = 1_700_000_000_000L;
    looks = 0;
    SnowflakeId.Generator ids = new SnowflakeId.Generator(0, 1);
    String[] outcomes = new String[history.length()];
    for (int place = 0; place < outcomes.length; place++) {
      looks = 0;
      outcomes[place] = "-";
      switch (history.charAt(place)) {
        case 't' -> nowMs++;
        case 'b' -> nowMs -= 2;
        case 'r' -> ids = new SnowflakeId.Generator(0, 1);
        default -> {
          try {
            outcomes[place] = Long.toString(ids.next());
          } catch (IllegalStateException error) {
            outcomes[place] = "behind";
          }
        }
      }
    }
    return String.join(" ", outcomes);
  }

  static void printThreads(int count, int each) throws InterruptedException {
    SnowflakeId.Generator ids = new SnowflakeId.Generator(0, 1);
    long[][] lines = new long[count][each];
    Thread[] threads = new Thread[count];
    for (int place = 0; place < count; place++) {
      long[] line = lines[place];
      threads[place] = new Thread(() -> Arrays.setAll(line, made -> ids.next()));
      threads[place].start();
    }
    for (Thread thread : threads) thread.join();
    for (long[] line : lines) System.out.println(Arrays.toString(line).replaceAll("[\\[\\],]", ""));
  }

  public static void main(String[] args) throws InterruptedException {
    String command = args.length == 0 ? "" : args[0];
    long[] values = Arrays.stream(args).skip(1).mapToLong(Long::parseLong).toArray();
    switch (command) {
      case "make" -> System.out.println(SnowflakeId.make(values[0], values[1], values[2], values[3]));
      case "decode" -> {
        for (long id : values) {
          SnowflakeId.Parts parts = SnowflakeId.decode(id);
          System.out.println(
              parts.unixMs() + " " + parts.datacenter() + " " + parts.worker() + " " + parts.sequence());
        }
      }
      case "lives" -> printLives(values[0], values[1]);
      case "threads" -> printThreads((int) values[0], (int) values[1]);
      case "histories" -> {
        StringBuilder lines = new StringBuilder();
        Scanner input = new Scanner(System.in);
        while (input.hasNextLine()) lines.append(outcomeOf(input.nextLine())).append('\n');
        System.out.print(lines);
      }
      default -> {}
    }
  }
}
