// Runs inside JMeter's own window (scripts/dev/screenshots starts it): unfolds the plan that is open,
// shows its first timer or else the plan, lets the window fill the screen, takes a picture and ends.
//
// tollgate.picture: the PNG to write
import java.awt.Rectangle
import java.awt.Robot
import java.awt.Toolkit
import java.awt.Window
import javax.imageio.ImageIO
import javax.swing.SwingUtilities
import javax.swing.tree.TreePath
import org.apache.jmeter.gui.GuiPackage
import org.apache.jmeter.timers.Timer

LOOK_AGAIN_MS = 50

def isOpen() {
    def gui = GuiPackage.instance
    gui?.mainFrame?.showing && gui.testPlanFile && Window.windows.count { it.showing } == 1
}

def arrange(gui) {
    def frame = gui.mainFrame
    frame.bounds = new Rectangle(Toolkit.defaultToolkit.screenSize)
    frame.validate()
    (0..<99).each { frame.tree.expandRow(it) }
    def nodes = Collections.list(gui.treeModel.root.preorderEnumeration())
    def shown = nodes.find { it.testElement instanceof Timer } ?: nodes[1]
    frame.tree.selectionPath = new TreePath(shown.path)
}

def settled() {
    // What was asked of Swing is drawn once it has nothing else to do.
    def robot = new Robot()
    robot.autoDelay = 0
    robot.waitForIdle()
    SwingUtilities.invokeAndWait { Toolkit.defaultToolkit.sync() }
    robot
}

def picture() {
    while (!isOpen()) Thread.sleep(LOOK_AGAIN_MS)
    SwingUtilities.invokeAndWait { arrange(GuiPackage.instance) }
    settled()
    def screen = new Rectangle(Toolkit.defaultToolkit.screenSize)
    ImageIO.write(settled().createScreenCapture(screen), 'png', new File(System.getProperty('tollgate.picture')))
}

Thread.startDaemon('picture') {
    def failed = 0
    try { picture() } catch (Throwable reason) { reason.printStackTrace(); failed = 1 }
    Runtime.runtime.halt(failed)
}
